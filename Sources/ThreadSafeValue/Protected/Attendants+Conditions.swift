//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

internal import Dispatch

/// What a thread waits for to become true of a protected value.
final class Condition<Value> {
    let isMet: @Sendable (Value) -> Bool
    let parking = DispatchSemaphore(value: 0)

    /// Whether the wait is over, one way or the other. Guarded by the lock of the `Attendants`.
    var isSettled = false

    init(_ isMet: @escaping @Sendable (Value) -> Bool) {
        self.isMet = isMet
    }
}

// See `isSettled`.
extension Condition: @unchecked Sendable {}

extension Attendants {
    /// Adds a condition; the caller holds the value's lock, so that it misses no change.
    func add(_ condition: Condition<Value>) {
        lock.around {
            conditions.append(condition)
            attention.set(Attention.toConditions, to: true)
        }
    }

    /// Ends the wait for a condition.
    ///
    /// - Returns: whether it is the caller that has ended it.
    func settle(_ condition: Condition<Value>) -> Bool {
        lock.around {
            if condition.isSettled { return false }
            condition.isSettled = true
            conditions.removeAll { $0 === condition }
            if conditions.isEmpty { attention.set(Attention.toConditions, to: false) }
            return true
        }
    }

    /// Ends the wait for all conditions that a new value meets; the caller holds the value's lock.
    func settleConditions(with value: Value) -> [Condition<Value>] {
        // Conditions are asked outside the `lock`, as they may do anything. None can be added meanwhile.
        lock.around { conditions }.filter { $0.isMet(value) && settle($0) }
    }
}

extension ProtectedStorage {
    func wait(until isMet: @escaping @Sendable (Value) -> Bool, by deadline: Deadline) -> Bool {
        guard lock(by: deadline) else { return false }
        let isMetAlready = unsafe isMet(value.pointee)
        if isMetAlready || deadline == .passed {
            unlock()
            return isMetAlready
        }
        let (attendants, condition) = (attendants, Condition(isMet))
        attendants.add(condition)
        unlock()
        if case .at(let time) = deadline, condition.parking.wait(timeout: time) == .timedOut {
            return !attendants.settle(condition)
        }
        if deadline == .never { condition.parking.wait() }
        return true
    }
}
