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
        storage.line.write { line in
            if let listeners = listeners(in: line) { return listeners }
            // It calls nothing any more once it was told that the value changes no more, and so before the storage goes.
            unowned(unsafe) let storage = storage
            let made = ChangeHub<Value> { isListenedTo in
                unsafe CommandQueue(storage: storage).observe(isListenedTo)
            }
            line.listeners = made
            return made
        }
    }

    /// Notes for those who listen how a command has left the value; only with the turn.
    ///
    /// - Returns: whom to tell, without the turn.
    func recordChange() -> ChangeHub<Value>.Delivery? {
        unsafe storage.line.read { listeners(in: $0) }?.record(value.pointee)
    }

    private func listeners(in line: borrowing WaitingLine) -> ChangeHub<Value>? {
        line.listeners.map { unsafe unsafeDowncast($0, to: ChangeHub<Value>.self) }
    }

    /// Called under the lock of the listeners, so it does not look whether the value is gone: that would lead there again.
    private func observe(_ isListenedTo: Bool) {
        var errands = WaitingLine.Errands()
        storage.line.write { line in
            line.isObserved = isListenedTo && line.listeners != nil
            settle(&line, &errands)
        }
        carryOut(errands)
    }
}
