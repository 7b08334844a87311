//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What a thread or a task waits for to become true of a protected value.
@usableFromInline
final class Condition<Value> {
    @usableFromInline
    let isMet: @Sendable (Value) -> Bool
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
        self.isMet = isMet
    }
}

// What changes is guarded by the table's lock; the continuation is read by the one who ended the wait.
extension Condition: @unchecked Sendable {}
extension Condition: Placed {}

extension Condition {
    /// Wakes the thread, or resumes the task: to be called by the one whose change has ended the wait.
    @usableFromInline
    func wake() {
        parker?.wake()
        if let continuation { [continuation].resumeOnGlobalQueue() }
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
    @usableFromInline
    func end(_ ended: [Condition<Value>]) -> [Condition<Value>] {
        lock.around {
            let endedHere = ended.filter { !$0.isOver }
            for condition in endedHere {
                condition.isOver = true
                conditions.remove(condition)
            }
            if conditions.isEmpty { awaited.set(AwaitedChange.toMeetCondition, to: false) }
            return endedHere
        }
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
    }
}
