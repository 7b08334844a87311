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

    /// Whether its owner is going to change the value. Then it keeps its place in the table until the owner leaves.
    let isForChange: Bool

    /// Guarded by the value's lock.
    var place: Int?

    /// Whether its owner was woken, and has not tested it since. Guarded by the value's lock.
    var isWoken = false

    init(
        _ isMet: @escaping @Sendable (Value) -> Bool,
        isForChange: Bool = false,
        wake: @escaping @Sendable () -> Void
    ) {
        (self.isMet, self.isForChange, self.wake) = (isMet, isForChange, wake)
    }
}

// Under the value's lock.
extension WaiterTable {
    func add(_ condition: Condition<Value>) {
        conditions.append(condition)
        awaited.set(AwaitedChange.toMeetCondition, to: true)
    }

    /// Takes a condition out, if it is there.
    func remove(_ condition: Condition<Value>) {
        conditions.remove(condition)
        awaited.set(AwaitedChange.toMeetCondition, to: !conditions.isEmpty)
    }

    /// Chooses whom to wake for a value: all that only wait for it, but one of those that will change it, which is the
    /// first.
    ///
    /// Invariant (asked on): while a change waits whose condition is met, one that was woken is on its way. When that
    /// one commits, or gives up, it calls this.
    ///
    /// - Returns: What wakes them.
    @usableFromInline
    func wakeMet(by value: Value) -> [@Sendable () -> Void] {
        var met: [Condition<Value>] = []
        var isChangeWoken = false
        for case let condition? in conditions.elements {
            if condition.isForChange, isChangeWoken || condition.isWoken { continue }
            if !condition.isMet(value) { continue }
            condition.isWoken = true
            isChangeWoken = isChangeWoken || condition.isForChange
            met.append(condition)
        }
        for condition in met where !condition.isForChange { remove(condition) }
        return met.map(\.wake)
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
