//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Telling those who listen what the value is after each change.

/// Those who listen to the changes of a value, of whatever type.
protocol ValueListeners: AnyObject, Sendable {
    /// The value changes no more.
    func finish()
}

extension ChangeHub: ValueListeners {}

extension CommandQueue {
    /// Those who listen. Made when somebody does for the first time.
    var listeners: ChangeHub<Value> {
        storage.withWaiters { _ in
            if let listeners = existingListeners { return listeners }
            // It calls nothing any more once it was told that the value is gone, and so before the storage goes.
            unowned(unsafe) let storage = storage
            let made = ChangeHub<Value> { isListenedTo in
                unsafe CommandQueue(storage: storage).observe(isListenedTo)
            }
            self.storage.listeners = made
            return made
        }
    }

    /// Notes for those who listen how a command has left the value; only with the turn.
    ///
    /// - Returns: whom to tell, without the turn.
    func recordChange() -> ChangeHub<Value>.Delivery? {
        unsafe storage.withWaiters { _ in existingListeners }?.record(value.pointee)
    }

    // Under the lock.
    private var existingListeners: ChangeHub<Value>? {
        storage.listeners.map { unsafe unsafeDowncast($0, to: ChangeHub<Value>.self) }
    }

    /// Called under the lock of the listeners.
    private func observe(_ isListenedTo: Bool) {
        update { waiters, effects in
            waiters.isObserved = isListenedTo
            publish(&waiters, &effects)
        }
    }
}
