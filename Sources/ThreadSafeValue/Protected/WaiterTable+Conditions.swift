//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What a thread waits for to become true of a protected value.
@usableFromInline
final class Condition<Value> {
    @usableFromInline
    let isMet: @Sendable (Value) -> Bool
    let parker = Parker()

    /// Whether the wait is over, one way or the other. Guarded by the lock of the `WaiterTable`.
    var isOver = false

    init(_ isMet: @escaping @Sendable (Value) -> Bool) {
        self.isMet = isMet
    }
}

// See `isOver`.
extension Condition: @unchecked Sendable {}

extension Condition {
    /// Wakes the thread that waits.
    @usableFromInline
    func wake() {
        parker.wake()
    }
}

extension WaiterTable {
    /// Adds a condition; the caller holds the value's lock, so that it misses no change.
    func add(_ condition: Condition<Value>) {
        lock.around {
            conditions.append(condition)
            awaited.set(AwaitedChange.toMeetCondition, to: true)
        }
    }

    /// Ends waits.
    ///
    /// - Returns: those which it is this call that has ended.
    @usableFromInline
    func end(_ ended: [Condition<Value>]) -> [Condition<Value>] {
        lock.around {
            let endedHere = ended.filter { !$0.isOver }
            for condition in endedHere { condition.isOver = true }
            conditions.removeAll { $0.isOver }
            if conditions.isEmpty { awaited.set(AwaitedChange.toMeetCondition, to: false) }
            return endedHere
        }
    }
}

extension ProtectedStorage {
    func wait(until isMet: @escaping @Sendable (Value) -> Bool, by deadline: Deadline) -> Bool {
        guard lock(until: deadline) else { return false }
        let isMetAlready = unsafe isMet(value.pointee)
        if isMetAlready || deadline == .passed {
            unlock()
            return isMetAlready
        }
        let (table, condition) = (table, Condition(isMet))
        table.add(condition)
        unlock()
        // Whoever ends the wait wakes the thread; a time-out ends it too, unless somebody was faster.
        return condition.parker.park(until: deadline.time) || table.end([condition]).isEmpty
    }
}
