//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Hands the changes of one value to everybody who listens.
///
/// A storage has one, made when somebody listens for the first time. For each change it calls `record(_:)` while nobody else
/// can change the value, so that changes come in their order, and `deliver()` on what that returns when others can again. It
/// calls `finish()` when it goes away.
final class ChangeHub<Value> {
    /// Told when the first listener comes and when the last one has gone, under the lock; nothing after `finish()`.
    ///
    /// Returns what it used, as that may be the last reference to the value's storage, whose end calls `finish()`.
    // This and the rest are guarded by `lock`.
    private var whenListenedTo: ((Bool) -> AnyObject?)?
    private var listeners = [UInt64: Listener]()
    private var lastID: UInt64 = 0

    // Held for moments, in which no code of the library's user runs.
    private let lock = PlatformLock()

    init(whenListenedTo: @escaping (_ isListenedTo: Bool) -> AnyObject?) {
        self.whenListenedTo = whenListenedTo
    }
}

// All that changes is guarded by `lock`; only values that are `Sendable` are listened to.
extension ChangeHub: @unchecked Sendable {}

extension ChangeHub {
    // A class, so that a loop over all changes each in place: to copy a mailbox takes as long as its listener lags behind.
    private final class Listener {
        var mailbox: Mailbox<Value>
        // The iterators that wait for the next value: one, if each is used by one task.
        var waiting = [CheckedContinuation<Void, Never>]()

        init(capacity: Int) {
            mailbox = Mailbox(capacity: capacity)
        }
    }

    /// What is left to do when a change has been recorded.
    struct Delivery {
        // Values that nobody wants any more. They go away with this, where their `deinit` may do anything.
        fileprivate var replaced = [Value]()
        fileprivate var waiting = [CheckedContinuation<Void, Never>]()

        /// Whether somebody waits for it.
        var isAwaited: Bool { !waiting.isEmpty }

        /// Wakes the listeners. No lock may be held.
        func deliver() {
            for continuation in waiting { continuation.resume() }
        }
    }

    /// Puts a change into every mailbox.
    func record(_ value: Value) -> Delivery {
        lock.around {
            var delivery = Delivery()
            for listener in listeners.values {
                if let old = listener.mailbox.put(value) { delivery.replaced.append(old) }
                delivery.waiting += listener.waiting.drain()
            }
            return delivery
        }
    }

    /// The value goes away. Listeners may still fetch what is in their mailboxes.
    func finish() {
        let waiting = lock.around {
            whenListenedTo = nil
            return listeners.values.flatMap { $0.waiting.drain() }
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension ChangeHub {
    /// Adds a listener. It gets every change that comes after this.
    func add(capacity: Int) -> UInt64 {
        let (id, used) = lock.around {
            lastID += 1
            listeners[lastID] = Listener(capacity: capacity)
            return (lastID, listeners.count == 1 ? whenListenedTo?(true) : nil)
        }
        return withExtendedLifetime(used) { id }
    }

    /// Removes a listener, if it is still there. Its next fetches find the end.
    func remove(_ id: UInt64) {
        // What it has not fetched goes away outside the lock.
        let (listener, used) = lock.around { () -> (Listener?, AnyObject?) in
            let listener = listeners.removeValue(forKey: id)
            return (listener, listener != nil && listeners.isEmpty ? whenListenedTo?(false) : nil)
        }
        withExtendedLifetime(used) {
            for continuation in listener?.waiting ?? [] { continuation.resume() }
        }
    }

    /// The listener's next value, or `nil` at the end.
    nonisolated(nonsending) func next(of id: UInt64) async -> Value? {
        while true {
            switch lock.around({ fetch(id) }) {
            case .value(let value): return value
            case .end: return nil
            case .empty: await withCheckedContinuation { wait(id, $0) }
            }
        }
    }

    private enum Fetched {
        case value(Value), empty, end
    }

    /// Under the lock.
    private func fetch(_ id: UInt64) -> Fetched {
        guard let listener = listeners[id] else { return .end }
        if let value = listener.mailbox.take() { return .value(value) }
        return whenListenedTo == nil ? .end : .empty
    }

    private func wait(_ id: UInt64, _ continuation: CheckedContinuation<Void, Never>) {
        let isToWait = lock.around {
            // Something may have come in between.
            guard let listener = listeners[id], listener.mailbox.isEmpty, whenListenedTo != nil else { return false }
            listener.waiting.append(continuation)
            return true
        }
        if !isToWait { continuation.resume() }
    }
}

extension Array {
    /// Takes all elements out.
    fileprivate mutating func drain() -> [Element] {
        defer { self = [] }
        return self
    }
}
