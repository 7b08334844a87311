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

    // The value's lock guards the members below.

    /// The conditions of those that only wait, and of the threads and the tasks that will change the value.
    let (waits, threads, tasks) = (ConditionList<Value>(), ConditionList<Value>(), ConditionList<Value>())

    /// Until this time, no second task is woken to change the value. It is 0 if one may be woken.
    private var dueTime: UInt64 = 0

    /// When the timer that was set last looks whether the task has come.
    private var timerTime: UInt64 = 0

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
    typealias Test = @Sendable (Value) -> Bool

    let isMet: Test
    let wake: @Sendable () -> Void

    /// Where the condition stands. If the owner will change the value, it keeps its place until the owner leaves.
    let list: ConditionList<Value>

    /// Guarded by the value's lock.
    var place: Int?

    /// Whether the owner was woken and has not tested the condition since. Guarded by the value's lock.
    var isWoken = false

    init(_ isMet: @escaping Test, in list: ConditionList<Value>, wake: @escaping @Sendable () -> Void) {
        (self.isMet, self.list, self.wake) = (isMet, list, wake)
    }
}

/// Conditions in the order in which they came.
final class ConditionList<Value> { var all = ArrivalList<Condition<Value>>() }

// These methods run under the value's lock.
extension WaiterTable {
    func add(_ condition: Condition<Value>) {
        condition.list.all.append(condition)
        awaited.set(AwaitedChange.toMeetCondition, to: true)
    }

    /// Removes a condition, if it is in the table.
    func remove(_ condition: Condition<Value>) {
        condition.list.all.remove(condition)
        awaited.set(AwaitedChange.toMeetCondition, to: !waits.all.isEmpty || !threads.all.isEmpty || !tasks.all.isEmpty)
    }

    /// Notes that the owner of a condition has come: it tests the condition now, or leaves.
    ///
    /// - Returns: Whether the owner was woken to change the value.
    @discardableResult func arrive(_ condition: Condition<Value>) -> Bool {
        guard condition.isWoken, condition.list !== waits else { return false }
        condition.isWoken = false  // fault: woken once for ever
        if condition.list === tasks { dueTime = 0 }
        return true
    }

    /// Chooses the owners to wake for a value whose condition is met: all that only wait for it, and of those that will change
    /// the value, the first thread, and the first task unless another one is still on its way. If that one does not come in
    /// time, all tasks are woken.
    ///
    /// Invariant (asked on): while an owner that will change the value waits with a condition that is met, another owner was
    /// woken and is on its way. When that one commits, or does not change the value, it calls this method. If it is a task
    /// that does not come in time, a timer does.
    ///
    /// - Returns: Closures that wake the owners.
    @usableFromInline func wakeMet(by value: Value, in storage: ProtectedStorage<Value>) -> [@Sendable () -> Void] {
        var (met, wakes): ([Condition<Value>], [@Sendable () -> Void]) = ([], [])
        for case let wait? in waits.all.elements where wait.isMet(value) { met.append(wait) }
        for wait in met {
            remove(wait)
            wait.isWoken = true
            wakes.append(wait.wake)
        }
        for case let thread? in threads.all.elements where !thread.isWoken && thread.isMet(value) {
            thread.isWoken = true
            wakes.append(thread.wake)
            break  // fault: all that change are woken
        }
        if tasks.all.isEmpty { return wakes }
        let time = now()
        if dueTime <= time {
            let isLate = exchange(&dueTime, with: 0) != 0
            for case let task? in tasks.all.elements where !task.isWoken && task.isMet(value) {
                (task.isWoken, dueTime) = (true, time + HandoffPolicy.late)
                wakes.append(task.wake)
                if !isLate { break }
            }
        }
        if dueTime != 0, timerTime <= time, tasks.all.count > 1 {
            timerTime = dueTime
            // The timer does not keep the value.
            let reference = WeakStorage(storage: storage)
            LibraryTimer.set(at: dueTime) { [leaving] in leaving.async { reference.storage?.askOn() } }
        }
        return wakes
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
