//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// What a thread or a task waits for to become true of a protected value.
@usableFromInline
final class Condition<Value> {
    /// What it has captured goes away with this, when nobody waits and nobody tests it any more.
    // Not checked for exclusive access, which each change would pay for.
    @exclusivity(unchecked)
    @usableFromInline
    var test: (@Sendable (Value) -> Bool)?
    /// Where a thread sleeps; a task has none.
    let parker: Parker?

    // Guarded by the lock of the `WaiterTable`.

    @usableFromInline
    package var place: Int?

    /// Whether the wait is over, one way or the other.
    var isOver = false

    /// What a task that is suspended goes on with.
    var continuation: CheckedContinuation<Void, Never>?

    init(_ parker: Parker?, _ isMet: @escaping @Sendable (Value) -> Bool) {
        self.parker = parker
        unsafe test = isMet
    }
}

// What changes is guarded by the table's lock; the continuation is read by the one who ended the wait, and the test goes
// when nobody else reads it.
extension Condition: @unchecked Sendable {}
extension Condition: Placed {}

extension Condition {
    /// Whether a value meets the condition.
    @inlinable
    func isMet(by value: Value) -> Bool {
        unsafe test!(value)
    }

    /// Lets go of what the condition has captured.
    func end() {
        unsafe test = nil
    }

    /// The same on a global queue.
    @usableFromInline
    static func endElsewhere(_ conditions: [Condition]) {
        awaitedTarget.async { for condition in conditions { condition.end() } }
    }

    /// Wakes threads and resumes tasks: to be called by the one whose change has ended their waits.
    @usableFromInline
    static func wake(_ conditions: [Condition]) {
        for condition in conditions { condition.parker?.wake() }
        conditions.compactMap { $0.continuation }.resumeOnGlobalQueue()
    }
}

extension WaiterTable {
    /// Adds a condition; the caller holds the value's lock, so that it misses no change.
    ///
    /// - Returns: Whether it was added; `false` if the wait is over already, as it is when a task was cancelled
    ///   before.
    @discardableResult
    func add(_ condition: Condition<Value>, _ continuation: CheckedContinuation<Void, Never>? = nil) -> Bool {
        lock.around {
            if condition.isOver { return false }
            condition.continuation = continuation
            conditions.append(condition)
            awaited.set(AwaitedChange.toMeetCondition, to: true)
            return true
        }
    }

    /// Ends waits.
    ///
    /// - Returns: Those which it is this call that has ended.
    func end(_ ended: [Condition<Value>]) -> [Condition<Value>] {
        lock.around { endUnderLock(ended) }
    }

    @usableFromInline
    func endUnderLock(_ ended: [Condition<Value>]) -> [Condition<Value>] {
        let endedHere = ended.filter { !$0.isOver }
        for condition in endedHere {
            condition.isOver = true
            conditions.remove(condition)
        }
        if conditions.isEmpty { awaited.set(AwaitedChange.toMeetCondition, to: false) }
        return endedHere
    }

    /// The wait is over, and the caller goes on: lets go of what the condition has captured, unless it may be tested now.
    func leave(_ condition: Condition<Value>) {
        let mayBeTested = lock.around {
            if unsafe isTesting { unsafe left.append(condition) }
            return unsafe isTesting
        }
        if !mayBeTested { condition.end() }
    }

    /// The conditions to be tested now, which stay until `endTests(met:)`.
    @inlinable
    func beginTests() -> [Condition<Value>] {
        lock.around {
            unsafe isTesting = true
            // A real copy: the thread sanitizer does not see what orders the end of one that shares its memory before
            // the next change.
            return conditions.elements.compactMap { $0 }
        }
    }

    /// Ends the waits for the conditions that the value meets.
    ///
    /// Who waited for another one may have gone meanwhile. What that has captured goes away on a global queue: the
    /// calling thread may be in accesses to other values, and its `deinit` may use them.
    ///
    /// - Returns: The waits which it is this call that has ended.
    @inlinable
    func endTests(met: [Condition<Value>]) -> [Condition<Value>] {
        lock.lock()
        unsafe isTesting = false
        let ended = met.isEmpty ? [] : endUnderLock(met)
        let left = unsafe left.isEmpty ? [] : left.drain()
        lock.unlock()
        if !left.isEmpty { Condition.endElsewhere(left) }
        return ended
    }
}

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
        return unlockAndSleep(until: isMet, by: deadline)
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
        let (table, parker) = (table, Parker())
        let condition = Condition(parker, isMet)
        table.add(condition)
        unlock()
        defer { table.leave(condition) }
        // Whoever ends the wait wakes the thread; a time-out ends it too, unless somebody was faster.
        return parker.park(until: deadline.time) || table.end([condition]).isEmpty
    }

    /// Suspends the task until the value meets a condition, be it for a moment, or the task is cancelled.
    func wait(until isMet: @escaping @Sendable (Value) -> Bool) async where Value: Sendable {
        let (table, condition) = (table, Condition(nil, isMet))
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                lock()
                let isToWait = unsafe !isMet(value.pointee) && table.add(condition, continuation)
                unlock()
                if !isToWait { continuation.resume() }
            }
        } onCancel: {
            for ended in table.end([condition]) { ended.continuation?.resume() }
        }
        table.leave(condition)
    }
}
