//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Slow paths, taken only when a thread or task waits for a change of the value.

extension ProtectedStorage {
    /// Gives the lock back after an access that may have changed the value, and notifies those who wait for a change.
    @inlinable
    @inline(never)
    func commitNotifying() {
        commitCollecting()?.deliver()
    }

    /// Gives the lock back after an access that may have changed the value.
    ///
    /// - Returns: Whom to notify, when the caller has given all its locks back. What goes away with it may run code.
    @inlinable
    func commitCollecting() -> WaiterTable<Value>.PendingNotifications? {
        let pending = unsafe hasWaiters ? table.notifications(for: value.pointee) : nil
        unlock()
        return pending
    }

    /// Gives the lock back after an access to one of several values that the caller holds.
    ///
    /// - Returns: What notifies those who wait for a change, if there are any, to be called when the caller has given
    ///   all its locks back.
    @inlinable
    @inline(never)
    func commitToNotify() -> () -> Void {
        let pending = commitCollecting()
        return { pending?.deliver() }
    }

    /// The side table. Made when it is needed for the first time.
    @inlinable
    var table: WaiterTable<Value> {
        let word = unsafe withUnsafeMutablePointerToElements { lock in
            unsafe ProtectedLock.table(lock)
        }
        return word.object() ?? makeTable()
    }

    @usableFromInline
    @inline(never)
    func makeTable() -> WaiterTable<Value> {
        unsafe withUnsafeMutablePointerToElements { lock in
            let awaited = unsafe ProtectedLock.awaited(lock)
            return unsafe ProtectedLock.table(lock).object { WaiterTable<Value>(awaited: awaited) }
        }
    }

    /// Ends the side table with the value: nobody else can reach either any more.
    @usableFromInline
    @inline(never)
    func endTable() {
        let table: WaiterTable<Value>? = unsafe withUnsafeMutablePointerToElements { lock in
            unsafe ProtectedLock.table(lock).takeObject()
        }
        table?.finish()
    }
}
