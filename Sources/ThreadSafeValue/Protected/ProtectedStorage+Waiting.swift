//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

extension ProtectedStorage {
    // MARK: Telling of a change

    // These methods run only while a thread or task waits for a change.

    /// Gives the lock back after an access that may have changed the value, and notifies the waiters.
    @inlinable @inline(never) func commitNotifying() { commitCollecting()() }

    /// Gives the lock back after an access to one of several values that the caller holds.
    ///
    /// - Returns: A closure that notifies the waiters. The caller calls it once all its locks are free.
    @inlinable @inline(never) func commitToNotify() -> () -> Void { commitCollecting() }

    /// - Returns: A closure that notifies the waiters. It may keep values whose `deinit` runs code of a user.
    // This runs under the value's lock, so that all waiters see the changes in order. It is inlined, so that a closure that
    // is called at once is no allocation.
    @inlinable @inline(__always) func commitCollecting() -> () -> Void {
        let bits = awaited.load()
        let wakes = unsafe bits & AwaitedChange.toMeetCondition == 0 ? [] : table.wakeMet(by: value.pointee, in: self)
        let delivery = unsafe bits & AwaitedChange.any == 0 ? nil : table.broadcaster.record(value.pointee)
        unlock()
        return {
            for wake in wakes { wake() }
            delivery?.deliver()
        }
    }

    /// Wakes the thread that has waited longest for the lock with a time-out.
    @usableFromInline func wakeTimed() { table.timedLine.wakeFront() }

    /// The side table, which is made when it is needed for the first time.
    @inlinable var table: WaiterTable<Value> { withExtendedLifetime(self) { tableWord.object() ?? makeTable() } }

    @usableFromInline @inline(never)
    func makeTable() -> WaiterTable<Value> { tableWord.object { WaiterTable<Value>(awaited: awaited) } }

    /// Ends the side table with the value, as nobody else can use either any more.
    @usableFromInline @inline(never) func endTable() {
        (tableWord.takeObject() as WaiterTable<Value>?)?.broadcaster.finish()
    }

    // MARK: Waiting for a change

    /// Waits until the value meets a condition, at least for a moment.
    ///
    /// - Returns: Whether the value met the condition in time.
    func wait(until isMet: @escaping @Sendable (Value) -> Bool, by deadline: Deadline) -> Bool {
        guard lock(until: deadline) else { return false }
        let isMetAlready = unsafe isMet(value.pointee)
        if isMetAlready || deadline == .passed {
            unlock()
            return isMetAlready
        }
        let parker = Parker()
        let condition = Condition(.waits, isMet) { parker.wake() }
        table.add(condition)
        unlock()
        return withExtendedLifetime(condition) { parker.park(until: deadline.time) || !leave(condition) }
    }

    /// Takes the lock when the value meets a condition.
    ///
    /// - Returns: Whether the calling thread has the lock.
    @usableFromInline func lock(when isMet: @escaping @Sendable (Value) -> Bool, by deadline: Deadline) -> Bool {
        guard lock(until: deadline) else { return false }
        if unsafe isMet(value.pointee), !deadline.isOver { return true }
        if deadline.hasPassed {
            unlock()
            return false
        }
        let parker = Parker()
        let condition = Condition(.changesInThread, isMet) { parker.wake() }
        table.add(condition)
        unlock()
        while parker.park(until: deadline.time), lock(until: deadline) {
            // Another thread may have changed the value again.
            if goesOn(condition), !deadline.isOver { return true }
            unlockAskingOn()
        }
        leave(condition)
        return false
    }

    /// Suspends the task until the value meets a condition, at least for a moment, or the task is cancelled.
    func wait(until isMet: @escaping @Sendable (Value) -> Bool) async where Value: Sendable {
        lock()
        if unsafe isMet(value.pointee) { return unlock() }
        // The stream ends when it is finished, or the task is cancelled.
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let condition = Condition(.waits, isMet) { awaitedTarget.async { continuation.finish() } }
        table.add(condition)
        unlock()
        for await _ in stream {}
        leave(condition)
    }

    /// Tests the condition of a waiter that was woken to change the value, under the lock. If the value meets it, the
    /// condition leaves the table; if not, it keeps its place.
    func goesOn(_ condition: Condition<Value>) -> Bool {
        table.arrive(condition)
        let isMet = unsafe condition.isMet(value.pointee)
        if isMet { table.remove(condition) }
        return isMet
    }

    /// Gives the lock back without a change, and wakes the next waiter.
    func unlockAskingOn() {
        let wakes = unsafe table.wakeMet(by: value.pointee, in: self)
        unlock()
        for wake in wakes { wake() }
    }

    /// Lets others be woken, if the woken task has not come in time.
    func askOn() {
        lock()
        unlockAskingOn()
    }

    /// Removes a condition that nobody waits for any more, and never waits itself. While a thread accesses the value, a queue
    /// removes the condition later.
    ///
    /// - Returns: `true` if the value did not meet the condition.
    @discardableResult func leave(_ condition: Condition<Value>) -> Bool {
        if tryLock() { return unlockLeaving(condition) }
        // The lock of the storage guards everything in it.
        nonisolated(unsafe) let storage = self
        table.queue.async {
            unsafe storage.lock()
            unsafe storage.unlockLeaving(condition)
        }
        return true
    }

    /// Removes a condition and gives the lock back. If its owner was woken to change the value, the next waiter is woken.
    ///
    /// - Returns: `true` if the value did not meet the condition.
    @discardableResult func unlockLeaving(_ condition: Condition<Value>) -> Bool {
        table.remove(condition)
        let isUnmet = !condition.isWoken
        // fault: one that leaves wakes nobody
        if table.arrive(condition) { unlockAskingOn() } else { unlock() }
        return isUnmet
    }
}
