//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The side table of one protected value: the waits for a condition, and the listeners to changes.
@usableFromInline
final class WaiterTable<Value> {
    /// The listeners to changes. It has a lock of its own.
    @usableFromInline
    let broadcaster: ChangeBroadcaster<Value>

    /// The threads that wait for the value's lock with a time-out, if that has no line of its own.
    let timedLine: TimedLine

    /// The word beside the value's lock. Touched only while the value lives: by its accesses, and by the listeners
    /// until `finish()`.
    private let awaited: AtomicWord

    /// Where waits wait for the lock that have timed out, or whose task was cancelled.
    let leaving = DispatchQueue(label: "ThreadSafeValue.Protected.leaving", target: awaitedTarget)

    // Guarded by the value's lock.
    private var conditions = ArrivalList<Condition<Value>>()

    init(awaited: AtomicWord) {
        self.awaited = awaited
        broadcaster = ChangeBroadcaster { awaited.set(AwaitedChange.any, to: $0) }
        timedLine = TimedLine { awaited.set(AwaitedChange.lock, to: $0) }
    }
}

/// Which kinds of waiters a protected value has.
@usableFromInline
enum AwaitedChange {
    /// A wait for a value that meets a condition.
    @inlinable
    static var toMeetCondition: UInt64 { 1 }
    /// A listener to every change.
    @inlinable
    static var any: UInt64 { 2 }
    /// A thread that waits for the lock with a time-out, where that has no line of its own.
    @inlinable
    static var lock: UInt64 { 4 }
}

/// What a thread or a task waits for to become true of a protected value.
///
/// Invariant (last owner): others let go of it under the value's lock, and before they wake its owner. So the captures
/// of the test go away with the owner, and never inside an access.
final class Condition<Value>: Placed, @unchecked Sendable {
    let isMet: @Sendable (Value) -> Bool
    let wake: @Sendable () -> Void

    /// Guarded by the value's lock.
    var place: Int?

    init(_ isMet: @escaping @Sendable (Value) -> Bool, wake: @escaping @Sendable () -> Void) {
        self.isMet = isMet
        self.wake = wake
    }
}

// Under the value's lock.
extension WaiterTable {
    func add(_ condition: Condition<Value>) {
        conditions.append(condition)
        awaited.set(AwaitedChange.toMeetCondition, to: true)
    }

    /// Takes a condition out.
    ///
    /// - Returns: Whether it was there. If not, it is met.
    func remove(_ condition: Condition<Value>) -> Bool {
        guard condition.place != nil else { return false }
        conditions.remove(condition)
        awaited.set(AwaitedChange.toMeetCondition, to: !conditions.isEmpty)
        return true
    }

    /// Takes out the conditions that a value meets.
    ///
    /// - Returns: What wakes those who wait for them.
    @usableFromInline
    func removeMet(by value: Value) -> [@Sendable () -> Void] {
        var met: [Condition<Value>] = []
        for case let condition? in conditions.elements where condition.isMet(value) { met.append(condition) }
        return met.filter(remove).map(\.wake)
    }
}

extension AtomicWord {
    /// Sets or clears bits. Whatever happens after a bit was set, on whatever thread, sees it.
    fileprivate func set(_ bits: UInt64, to isSet: Bool) {
        while true {
            let old = load()
            if exchange(old, for: isSet ? old | bits : old & ~bits) { return }
        }
    }
}
