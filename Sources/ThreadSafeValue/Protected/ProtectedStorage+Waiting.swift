//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

// How a change is told: taken only when a thread or task waits for one.
extension ProtectedStorage {
    /// The threads and tasks to notify of a change, once the value's lock is free. It may keep values whose end runs
    /// code.
    @usableFromInline
    struct PendingNotifications {
        /// Each wakes a thread or task whose condition the new value meets.
        @usableFromInline
        var wakes = [@Sendable () -> Void]()

        @usableFromInline
        var delivery: ChangeBroadcaster<Value>.Delivery?

        @inlinable
        init() {}

        @inlinable
        func deliver() {
            for wake in wakes { wake() }
            delivery?.deliver()
        }
    }

    /// Gives the lock back after an access that may have changed the value, and notifies those who wait for a change.
    @inlinable @inline(never)
    func commitNotifying() {
        commitCollecting().deliver()
    }

    /// Gives the lock back after an access to one of several values that the caller holds.
    ///
    /// - Returns: What notifies those who wait for a change, to be called when the caller has given all its locks back.
    @inlinable @inline(never)
    func commitToNotify() -> () -> Void {
        commitCollecting().deliver
    }

    // Under the value's lock, so that all see changes in order.
    @inlinable
    func commitCollecting() -> PendingNotifications {
        let bits = awaited.load()
        var pending = PendingNotifications()
        if bits & AwaitedChange.toMeetCondition != 0 { unsafe pending.wakes = table.wakeMet(by: value.pointee) }
        if bits & AwaitedChange.any != 0 { unsafe pending.delivery = table.broadcaster.record(value.pointee) }
        unlock()
        return pending
    }

    /// Wakes the thread that has waited longest for the lock with a time-out.
    @usableFromInline
    func wakeTimed() { table.timedLine.wakeFront() }

    /// The side table. Made when it is needed for the first time.
    @inlinable
    var table: WaiterTable<Value> {
        withExtendedLifetime(self) { tableWord.object() ?? makeTable() }
    }

    @usableFromInline @inline(never)
    func makeTable() -> WaiterTable<Value> {
        tableWord.object { WaiterTable<Value>(awaited: awaited) }
    }

    /// Ends the side table with the value: nobody else can reach either any more.
    @usableFromInline @inline(never)
    func endTable() {
        let table: WaiterTable<Value>? = tableWord.takeObject()
        table?.broadcaster.finish()
    }
}

// How a change is waited for.
extension ProtectedStorage {
    /// Waits until the value meets a condition, be it for a moment.
    ///
    /// - Returns: Whether it did in time.
    func wait(until isMet: @escaping @Sendable (Value) -> Bool, by deadline: Deadline) -> Bool {
        guard lock(until: deadline) else { return false }
        let isMetAlready = unsafe isMet(value.pointee)
        if isMetAlready || deadline == .passed {
            unlock()
            return isMetAlready
        }
        let parker = Parker()
        let condition = Condition(isMet) { parker.wake() }
        table.add(condition)
        unlock()
        return withExtendedLifetime(condition) { parker.park(until: deadline.time) || !leave(condition) }
    }

    /// Takes the lock when the value meets a condition.
    ///
    /// - Returns: Whether it has the lock, in time.
    @usableFromInline
    func lock(when isMet: @escaping @Sendable (Value) -> Bool, by deadline: Deadline) -> Bool {
        guard lock(until: deadline) else { return false }
        if unsafe isMet(value.pointee) { return true }
        if deadline == .passed {
            unlock()
            return false
        }
        let parker = Parker()
        let condition = Condition(isMet, isForChange: true) { parker.wake() }
        table.add(condition)
        repeat {
            unlock()
            guard parker.park(until: deadline.time), lock(until: deadline) else {
                leave(condition)
                return false
            }
            // By now another thread may have changed the value again.
        } while !goesOn(condition)
        return true
    }

    /// Suspends the task until the value meets a condition, be it for a moment, or the task is cancelled.
    func wait(until isMet: @escaping @Sendable (Value) -> Bool) async where Value: Sendable {
        // It ends when it is finished, or the task is cancelled.
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let condition = Condition(isMet) { awaitedTarget.async { continuation.finish() } }
        lock()
        let isToWait = unsafe !isMet(value.pointee)
        if isToWait { table.add(condition) }
        unlock()
        if !isToWait { return }
        for await _ in stream {}
        leave(condition)
    }

    /// Tests the condition of a change, under the lock, and takes it out if it is met. If not, it waits on at its place.
    func goesOn(_ condition: Condition<Value>) -> Bool {
        condition.isWoken = false
        let isMet = unsafe condition.isMet(value.pointee)
        if isMet { table.remove(condition) } else if condition.place == nil { table.add(condition) }
        return isMet
    }

    /// Takes out a condition that nobody waits for any more, and never waits itself: if the value is being accessed, a
    /// queue does it later.
    ///
    /// - Returns: Whether it was not met.
    @discardableResult
    func leave(_ condition: Condition<Value>) -> Bool {
        if tryLock() { return unlockLeaving(condition) }
        // Its lock guards all that it holds.
        nonisolated(unsafe) let storage = self
        table.leaving.async {
            unsafe storage.lock()
            unsafe storage.unlockLeaving(condition)
        }
        return true
    }

    /// Takes out a condition, gives the lock back, and asks the others if its owner was woken for a change that it
    /// does not make.
    ///
    /// - Returns: Whether it was not met.
    @discardableResult
    func unlockLeaving(_ condition: Condition<Value>) -> Bool {
        table.remove(condition)
        let wakes = unsafe condition.isForChange && condition.isWoken ? table.wakeMet(by: value.pointee) : []
        let isUnmet = !condition.isWoken
        unlock()
        for wake in wakes { wake() }
        return isUnmet
    }
}
