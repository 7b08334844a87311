//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Slow paths, taken only when a thread or task waits for a change of the value.

extension ProtectedStorage {
    /// Gives the lock back after an access that may have changed the value, and notifies those who wait for a change.
    @usableFromInline
    @inline(never)
    func commitNotifying() {
        commitCollecting()?.deliver()
    }

    /// Gives the lock back after an access that may have changed the value.
    ///
    /// - Returns: whom to notify, when the caller has given all its locks back. What goes away with it may run code.
    func commitCollecting() -> WaiterTable<Value>.PendingNotifications? {
        let pending = unsafe hasWaiters ? table.notifications(for: value.pointee) : nil
        unlock()
        return pending
    }

    /// Gives the lock back after an access to one of several values that the caller holds.
    ///
    /// - Returns: what notifies those who wait for a change, if there are any, to be called when the caller has given all its
    ///   locks back.
    @usableFromInline
    @inline(never)
    func commitToNotify() -> () -> Void {
        let pending = commitCollecting()
        return { pending?.deliver() }
    }

    /// The side table. Made when it is needed for the first time.
    var table: WaiterTable<Value> {
        let (word, awaited) = unsafe withUnsafeMutablePointerToElements { lock in
            unsafe (ProtectedLock.table(lock), ProtectedLock.awaited(lock))
        }
        return word.object { WaiterTable<Value>(awaited: awaited) }
    }

    /// Ends the side table with the value: nobody else can reach either any more.
    @usableFromInline
    @inline(never)
    func endTable() {
        let table: WaiterTable<Value> = unsafe withUnsafeMutablePointerToElements { lock in
            unsafe ProtectedLock.table(lock).takeObject()
        }
        table.finish()
    }
}

// For tests.
extension Protected {
    /// Whether a change has to be told.
    package var hasWaiters: Bool {
        storage.hasWaiters
    }
}
