//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What a thread waits for to become true of a protected value.
final class Condition<Value> {
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

extension WaiterTable {
    /// The conditions that a new value was tested for.
    ///
    /// What they have captured may run code of its own when it goes away, so they are kept until the value's lock is free.
    struct Conditions {
        let met: [Condition<Value>]
        fileprivate let tested: [Condition<Value>]
    }

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
    func end(_ ended: [Condition<Value>]) -> [Condition<Value>] {
        lock.around {
            let endedHere = ended.filter { !$0.isOver }
            for condition in endedHere { condition.isOver = true }
            conditions.removeAll { $0.isOver }
            if conditions.isEmpty { awaited.set(AwaitedChange.toMeetCondition, to: false) }
            return endedHere
        }
    }

    /// Ends all waits whose condition a new value meets; the caller holds the value's lock.
    func endWaits(metBy value: Value) -> Conditions {
        // Tested outside the `lock`, as they may do anything. None can be added meanwhile.
        let tested = lock.around { conditions }
        let met = tested.filter { $0.isMet(value) }
        return Conditions(met: met.isEmpty ? [] : end(met), tested: tested)
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
