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

    /// Ends the wait for conditions.
    ///
    /// - Returns: those for which it is the caller that has ended it.
    func settle(_ ended: [Condition<Value>]) -> [Condition<Value>] {
        lock.around {
            let settled = ended.filter { !$0.isSettled }
            for condition in settled { condition.isSettled = true }
            conditions.removeAll { $0.isSettled }
            if conditions.isEmpty { attention.set(Attention.toConditions, to: false) }
            return settled
        }
    }

    /// Ends the wait for all conditions that a new value meets; the caller holds the value's lock.
    ///
    /// - Returns: those, and all that were asked. What these have captured may run code of its own when it goes away, so they
    ///   are let go when the value's lock is free.
    func settleConditions(with value: Value) -> (met: [Condition<Value>], asked: [Condition<Value>]) {
        // Asked outside the `lock`, as they may do anything. None can be added meanwhile.
        let asked = lock.around { conditions }
        let met = asked.filter { $0.isMet(value) }
        return (met.isEmpty ? [] : settle(met), asked)
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
            return attendants.settle([condition]).isEmpty
        }
        if deadline == .never { condition.parking.wait() }
        return true
    }
}
