//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The side table of one protected value, with the waits for a condition and the listeners to changes.
@usableFromInline final class WaiterTable<Value> {
    /// The listeners to changes, which have a lock of their own.
    @usableFromInline let broadcaster: ChangeBroadcaster<Value>

    /// The threads that wait for the value's lock with a time-out, if the lock has no line of its own.
    let timedLine: TimedLine

    /// The word beside the value's lock. It is used only while the value lives: by accesses, and by listeners until
    /// `finish()`.
    private let awaited: AtomicWord

    /// The queue on which a wait that timed out or was cancelled waits for the lock, to leave the table.
    let leaving = DispatchQueue(label: "ThreadSafeValue.Protected.leaving", target: awaitedTarget)

    // The value's lock guards the conditions: of those that only wait, and of those that will change the value.
    private var waits = ArrivalList<Condition<Value>>()
    private var changes = ArrivalList<Condition<Value>>()

    /// Until when the one is awaited that was woken to change the value; 0 if none is on its way.
    private var dueTime: UInt64 = 0

    init(awaited: AtomicWord) {
        self.awaited = awaited
        broadcaster = ChangeBroadcaster { awaited.set(AwaitedChange.any, to: $0) }
        timedLine = TimedLine { awaited.set(AwaitedChange.lock, to: $0) }
    }
}

/// The kinds of waiters that a protected value may have.
@usableFromInline enum AwaitedChange {
    /// A thread or task waits for a value that meets a condition.
    @inlinable static var toMeetCondition: UInt64 { 1 }
    /// A listener waits for every change.
    @inlinable static var any: UInt64 { 2 }
    /// A thread waits with a time-out for a lock that has no line of its own.
    @inlinable static var lock: UInt64 { 4 }
}

/// A condition that a thread or a task, its owner, waits for.
///
/// Invariant (last owner): others release the condition under the value's lock, before they wake its owner. So the captures
/// of the test are released by the owner, and never inside an access.
final class Condition<Value>: Placed, @unchecked Sendable {
    let isMet: @Sendable (Value) -> Bool
    let wake: @Sendable () -> Void

    /// Whether the owner will change the value. If so, the condition keeps its place in the table until the owner leaves.
    let isForChange: Bool

    /// Guarded by the value's lock.
    var place: Int?

    /// Whether the owner was woken and has not tested the condition since. Guarded by the value's lock.
    var isWoken = false

    init(
        _ isMet: @escaping @Sendable (Value) -> Bool,
        isForChange: Bool = false,
        wake: @escaping @Sendable () -> Void
    ) {
        (self.isMet, self.isForChange, self.wake) = (isMet, isForChange, wake)
    }
}

// These methods run under the value's lock.
extension WaiterTable {
    func add(_ condition: Condition<Value>) {
        if condition.isForChange { changes.append(condition) } else { waits.append(condition) }
        awaited.set(AwaitedChange.toMeetCondition, to: true)
    }

    /// Removes a condition, if it is in the table.
    func remove(_ condition: Condition<Value>) {
        if condition.isForChange { changes.remove(condition) } else { waits.remove(condition) }
        awaited.set(AwaitedChange.toMeetCondition, to: !waits.isEmpty || !changes.isEmpty)
    }

    /// The owner of a condition, which will change the value, tests the condition itself, or leaves.
    ///
    /// - Returns: Whether the owner was woken.
    func arrive(_ condition: Condition<Value>) -> Bool {
        guard condition.isWoken else { return false }
        (condition.isWoken, dueTime) = (false, 0)  // fault: woken once for ever
        return true
    }

    /// Chooses the owners to wake for a value whose condition is met: all owners that only wait for it, and the first one of
    /// those that will change the value, unless one of these was just woken.
    ///
    /// Invariant (asked on): while an owner that will change the value waits with a condition that is met, another owner was
    /// woken and is on its way. When that one commits, or does not change the value, it calls this method.
    ///
    /// - Returns: Closures that wake the owners.
    @usableFromInline func wakeMet(by value: Value) -> [@Sendable () -> Void] {
        // Loops, as this is code that is not specialized.
        var met: [Condition<Value>] = []
        for case let wait? in waits.elements where wait.isMet(value) { met.append(wait) }
        for wait in met { remove(wait) }
        // fault: all that change are woken
        if dueTime == 0 || dueTime <= now() {
            for case let change? in changes.elements where !change.isWoken && change.isMet(value) {
                met.append(change)
                dueTime = now() + HandoffPolicy.late
                break
            }
        }
        for condition in met { condition.isWoken = true }
        // A closure, because a generic key path is made anew for each call.
        return met.map { $0.wake }
    }
}

extension AtomicWord {
    /// Sets or clears bits. All later accesses see the new bits, on any thread.
    // What the bits tell of is under a lock, so the bits themselves need no order.
    fileprivate func set(_ bits: UInt64, to isSet: Bool) {
        while true {
            let old = load()
            if exchangeReleasing(old, for: isSet ? old | bits : old & ~bits) { return }
        }
    }
}
