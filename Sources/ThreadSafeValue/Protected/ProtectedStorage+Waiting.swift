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
        if bits & AwaitedChange.toMeetCondition != 0 { unsafe pending.wakes = table.removeMet(by: value.pointee) }
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
        if !isMetAlready, deadline != .passed { return unlockAndSleep(until: isMet, by: deadline) }
        unlock()
        return isMetAlready
    }

    /// Takes the lock when the value meets a condition.
    ///
    /// - Returns: Whether it has the lock, in time.
    @usableFromInline
    func lock(when isMet: @escaping @Sendable (Value) -> Bool, by deadline: Deadline) -> Bool {
        while lock(until: deadline) {
            if unsafe isMet(value.pointee) { return true }
            if deadline == .passed {
                unlock()
                return false
            }
            // When the thread is awake, another one may have changed the value again.
            if !unlockAndSleep(until: isMet, by: deadline) { return false }
        }
        return false
    }

    /// Gives the lock back, and sleeps until a new value meets a condition.
    ///
    /// - Returns: Whether one did in time.
    private func unlockAndSleep(until isMet: @escaping @Sendable (Value) -> Bool, by deadline: Deadline) -> Bool {
        let parker = Parker()
        let condition = Condition(isMet) { parker.wake() }
        table.add(condition)
        unlock()
        return withExtendedLifetime(condition) { parker.park(until: deadline.time) || !leave(condition) }
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
        _ = leave(condition)
    }

    /// Takes out a condition that nobody waits for any more, and never waits itself: if the value is being accessed, a
    /// queue does it later.
    ///
    /// - Returns: Whether it was not met.
    private func leave(_ condition: Condition<Value>) -> Bool {
        if tryLock() {
            defer { unlock() }
            return table.remove(condition)
        }
        // Its lock guards all that it holds.
        nonisolated(unsafe) let storage = self
        table.leaving.async {
            unsafe storage.lock()
            _ = unsafe storage.table.remove(condition)
            unsafe storage.unlock()
        }
        return true
    }
}
