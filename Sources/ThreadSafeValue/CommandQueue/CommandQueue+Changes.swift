//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Telling those who listen what the value is after each change.

/// Those who listen to the changes of a value, of whatever type.
protocol ValueListeners: AnyObject, Sendable {
    /// The value changes no more.
    func finish()
}

extension ChangeBroadcaster: ValueListeners {}

extension CommandQueue {
    /// Those who listen. Made when somebody does for the first time.
    var listeners: ChangeBroadcaster<Value> {
        storage.withWaiters { _ in
            if let listeners = existingListeners { return listeners }
            let reference = storage.reference
            let made = ChangeBroadcaster<Value> { isListenedTo in
                let queue = reference.queue
                queue?.observe(isListenedTo)
                return queue
            }
            self.storage.listeners = made
            return made
        }
    }

    /// Notes for those who listen how a command has left the value; only with the turn.
    ///
    /// - Returns: whom to tell, without the turn.
    func recordChange() -> ChangeBroadcaster<Value>.Delivery? {
        unsafe storage.withWaiters { _ in existingListeners }?.record(value.pointee)
    }

    // Under the lock.
    private var existingListeners: ChangeBroadcaster<Value>? {
        storage.listeners.map { unsafe unsafeDowncast($0, to: ChangeBroadcaster<Value>.self) }
    }
}
