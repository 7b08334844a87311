//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Hands the changes of one value to all listeners.
///
/// A storage has one, made when somebody listens for the first time. For each change it calls `record(_:)` while
/// nobody else can change the value, so that changes come in their order, and `deliver()` on what that returns when
/// others can again. It calls `finish()` when it goes away.
@usableFromInline
final class ChangeBroadcaster<Value> {
    /// Called when the first listener comes and when the last one has gone, under the lock; `nil` after `finish()`.
    // This and the rest are guarded by `lock`.
    var whenListenedTo: ((Bool) -> Void)?
    private var isListenedTo = false
    @usableFromInline
    var listeners = ArrivalList<Listener>()

    // Held for moments, in which no code of the library's user runs; longer if the system has no thread for a timer.
    @usableFromInline
    let lock = PlatformLock()

    init(whenListenedTo: @escaping (_ isListenedTo: Bool) -> Void) {
        self.whenListenedTo = whenListenedTo
        schedulerHides(lock)
    }
}

// All that changes is guarded by `lock`; only values that are `Sendable` are listened to.
extension ChangeBroadcaster: @unchecked Sendable {}
extension ChangeBroadcaster.Listener: @unchecked Sendable {}

extension ChangeBroadcaster {
    /// What one loop over the changes has not fetched yet. Guarded by the broadcaster's lock.
    @usableFromInline
    final class Listener: Placed {
        @usableFromInline
        package var place: Int?
        @usableFromInline
        var mailbox: BoundedFIFO<Value>
        fileprivate var isRemoved = false
        // The iterators that wait for the next value: one, if each is used by one task.
        @usableFromInline
        var waiting = [CheckedContinuation<Void, Never>]()

        init(capacity: Int) {
            mailbox = BoundedFIFO(capacity: capacity)
        }
    }

    /// What is left to do when a change has been recorded.
    @usableFromInline
    struct Delivery {
        // Values that nobody wants any more. They go away with this, where their `deinit` may do anything. The first
        // one has a place of its own, so that a single listener costs no allocation.
        @usableFromInline
        var replaced: Value?
        @usableFromInline
        var othersReplaced = [Value]()
        @usableFromInline
        var waiting = [CheckedContinuation<Void, Never>]()

        @inlinable
        init() {}

        /// Wakes the listeners, without the lock of the value. The caller may be in a closure of another value.
        // By force: on its own it takes fifty instructions more.
        @inlinable @inline(__always)
        func deliver() {
            waiting.resumeOnGlobalQueue()
        }
    }

    /// Puts a change into every mailbox.
    @inlinable
    func record(_ value: Value) -> Delivery {
        var delivery = Delivery()
        lock.lock()
        for case let listener? in listeners.elements {
            if let old = listener.mailbox.put(value) {
                if delivery.replaced == nil { delivery.replaced = old } else { delivery.othersReplaced.append(old) }
            }
            if !listener.waiting.isEmpty { delivery.waiting += listener.waiting.drain() }
        }
        lock.unlock()
        return delivery
    }

    /// The value goes away. Listeners may still fetch what is in their mailboxes.
    func finish() {
        let waiting = lock.around {
            whenListenedTo = nil
            return listeners.elements.flatMap { $0?.waiting.drain() ?? [] }
        }
        waiting.resumeOnGlobalQueue()
    }
}

extension ChangeBroadcaster {
    /// Somebody has come or gone: tells the storage if that was the first or the last. Under the lock.
    func updateListening() {
        let isUnheard = listeners.isEmpty
        if isUnheard != isListenedTo { return }
        isListenedTo = !isUnheard
        whenListenedTo?(isListenedTo)
    }

    /// Adds a listener. It gets every change that comes after this.
    ///
    /// - Parameters:
    ///   - listener: The listener.
    ///   - first: The value that it begins with; while nobody can change that.
    func add(_ listener: Listener, startingWith first: Value? = nil) {
        lock.around {
            if listener.isRemoved { return }
            listeners.append(listener)
            updateListening()
            guard let first else { return }
            _ = listener.mailbox.put(first)
            // One iterator may wait already, while another one begins.
            listener.waiting.drain().resumeOnGlobalQueue()
        }
    }

    /// Removes a listener, if it is still there. Its next fetches find the end.
    ///
    /// - Parameters:
    ///   - listener: The listener.
    ///   - keepsValues: Whether what it has not fetched stays until it is removed once more.
    func remove(_ listener: Listener, keepingValues keepsValues: Bool = false) {
        // What it has not fetched goes away outside the lock.
        var mailbox = BoundedFIFO<Value>(capacity: 1)
        lock.lock()
        listener.isRemoved = true
        listeners.remove(listener)
        updateListening()
        if !keepsValues { swap(&mailbox, &listener.mailbox) }
        let waiting = listener.waiting.drain()
        lock.unlock()
        waiting.resumeIndependently()
    }

    /// The listener's next value, or `nil` at the end.
    nonisolated(nonsending) func next(of listener: Listener) async -> Value? {
        while true {
            let (value, isOver) = lock.around {
                (listener.isRemoved ? nil : listener.mailbox.take(), listener.isRemoved || whenListenedTo == nil)
            }
            if value != nil || isOver { return value }
            await withCheckedContinuation { wait(listener, $0) }
        }
    }

    private func wait(_ listener: Listener, _ continuation: CheckedContinuation<Void, Never>) {
        let isToWait = lock.around {
            // Something may have come in between.
            guard !listener.isRemoved, listener.mailbox.isEmpty, whenListenedTo != nil else { return false }
            listener.waiting.append(continuation)
            return true
        }
        if !isToWait { continuation.resume() }
    }
}
