//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Hands the changes of one value to all listeners.
///
/// The storage of a value makes its broadcaster when the first listener comes. For each change, the storage calls
/// `record(_:)` while nobody else can change the value, so that listeners get the changes in their order. It calls
/// `deliver()` on the result once others can change the value again. It calls `finish()` when the value goes away.
@usableFromInline final class ChangeBroadcaster<Value> {
    /// Told under the lock whether there are listeners, whenever one comes or goes; `nil` after `finish()`.
    // The lock guards this variable and those below.
    var whenListenedTo: ((Bool) -> Void)?
    @usableFromInline var listeners = ArrivalList<Listener>()

    // Threads hold the lock for moments, in which no code of the library's user runs. They hold it for longer if the system
    // has no thread for a timer.
    @usableFromInline let lock = PlatformLock()

    init(whenListenedTo: @escaping (_ isListenedTo: Bool) -> Void) { self.whenListenedTo = whenListenedTo }
}

// The lock guards everything that changes. Only `Sendable` values have listeners.
extension ChangeBroadcaster: @unchecked Sendable {}
extension ChangeBroadcaster.Listener: @unchecked Sendable {}

extension ChangeBroadcaster {
    /// The changes that one loop has not fetched yet. The broadcaster's lock guards them.
    @usableFromInline final class Listener: Placed {
        @usableFromInline package var place: Int?
        @usableFromInline var mailbox: BoundedFIFO<Value>
        fileprivate var isRemoved = false
        // The iterators that wait for the next value. If each task has its own iterator, there is one at most.
        @usableFromInline var waiting = [CheckedContinuation<Void, Never>]()

        init(capacity: Int) { mailbox = BoundedFIFO(capacity: capacity) }
    }

    /// The work that is left after a change was recorded.
    @usableFromInline struct Delivery {
        // The values that newer ones replaced. They are released with the delivery, where their `deinit` may do anything.
        // The first one has a variable of its own, so that a single listener costs no allocation.
        @usableFromInline var replaced: Value?
        @usableFromInline var othersReplaced = [Value]()
        @usableFromInline var waiting = [CheckedContinuation<Void, Never>]()

        @inlinable init() {}

        /// Wakes the listeners. The caller does not hold the lock of the value, but may be in a closure of another value.
        // A call that is not inlined takes fifty instructions more.
        @inlinable @inline(__always) func deliver() { waiting.resumeOnGlobalQueue() }
    }

    /// Puts a change into every mailbox.
    @inlinable func record(_ value: Value) -> Delivery {
        var delivery = Delivery()
        lock.lockForMoment()
        for case let listener? in listeners.elements {
            if let old = listener.mailbox.put(value) {
                if delivery.replaced == nil { delivery.replaced = old } else { delivery.othersReplaced.append(old) }
            }
            if !listener.waiting.isEmpty { delivery.waiting += listener.waiting.drain() }  // fault: no listener wakes
        }
        lock.unlock()
        return delivery
    }

    /// Ends all loops, as the value goes away. Listeners may still fetch the values in their mailboxes.
    func finish() {
        let waiting = lock.forMoment {
            whenListenedTo = nil
            return listeners.elements.flatMap { $0?.waiting.drain() ?? [] }
        }
        waiting.resumeOnGlobalQueue()  // fault: a task is resumed in place
    }

    /// Adds a listener, which gets every change from now on.
    ///
    /// - Parameters:
    ///   - listener: The listener.
    ///   - first: The value that the listener begins with. The caller sees to it that nobody can change the value meanwhile.
    func add(_ listener: Listener, startingWith first: Value? = nil) {
        lock.forMoment {
            if listener.isRemoved { return }
            listeners.append(listener)
            whenListenedTo?(true)  // fault: it is not listened to again
            guard let first else { return }
            _ = listener.mailbox.put(first)
            // One iterator may already wait while another one begins.
            listener.waiting.drain().resumeOnGlobalQueue()
        }
    }

    /// Removes a listener, if it was not removed before. The next call of its iterators returns `nil`.
    ///
    /// - Parameters:
    ///   - listener: The listener.
    ///   - keepsValues: Whether the values that it has not fetched stay until it is removed once more.
    func remove(_ listener: Listener, keepingValues keepsValues: Bool = false) {
        // The values that were not fetched are released outside the lock.
        var mailbox = BoundedFIFO<Value>(capacity: 1)
        lock.lockForMoment()
        listener.isRemoved = true
        listeners.remove(listener)
        whenListenedTo?(!listeners.isEmpty)  // fault: it is listened to for ever
        if !keepsValues { swap(&mailbox, &listener.mailbox) }
        let waiting = listener.waiting.drain()
        lock.unlock()
        waiting.resumeIndependently()
    }

    /// The listener's next value, or `nil` at the end.
    nonisolated(nonsending) func next(of listener: Listener) async -> Value? {
        while true {
            let (value, isOver) = lock.forMoment {
                (listener.isRemoved ? nil : listener.mailbox.take(), listener.isRemoved || whenListenedTo == nil)
            }
            if value != nil || isOver { return value }
            await withCheckedContinuation { continuation in
                let isToWait = lock.forMoment {
                    // A change may have come in between.
                    // fault: a change is missed before the wait
                    guard !listener.isRemoved, listener.mailbox.isEmpty, whenListenedTo != nil else { return false }
                    listener.waiting.append(continuation)
                    return true
                }
                if !isToWait { continuation.resume() }
            }
        }
    }
}
