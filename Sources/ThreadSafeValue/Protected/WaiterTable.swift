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

    /// The queue that waits for the lock: for a wait that ended and leaves the table, and for the timer.
    let queue = DispatchQueue(label: "ThreadSafeValue.Protected", target: awaitedTarget)

    // The value's lock guards the members below.

    /// The conditions of owners that only wait.
    private var waits = ArrivalList<Condition<Value>>()

    /// The conditions of owners that will change the value.
    private var changes = ArrivalList<Condition<Value>>()

    /// How many conditions in `changes` belong to threads.
    private var threadCount = 0

    /// Until when the woken task is awaited, and no other task is woken. It is 0 if none is awaited.
    private var dueTime: UInt64 = 0

    /// When the timer that was set last fires.
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
/// of the test are released by the owner, or by the queue on which it leaves, and never inside an access.
final class Condition<Value>: Placed, @unchecked Sendable {
    let kind: Kind
    let isMet: @Sendable (Value) -> Bool
    let wake: @Sendable () -> Void

    /// Guarded by the value's lock.
    var place: Int?

    /// Whether the owner was woken and has not tested the condition since. Guarded by the value's lock.
    var isWoken = false

    /// What the owner is, and whether it will change the value. If so, its condition keeps its place until the owner leaves.
    enum Kind { case waits, changesInThread, changesInTask }

    init(_ kind: Kind, _ isMet: @escaping @Sendable (Value) -> Bool, wake: @escaping @Sendable () -> Void) {
        (self.kind, self.isMet, self.wake) = (kind, isMet, wake)
    }
}

// These methods run under the value's lock.
extension WaiterTable {
    func add(_ condition: Condition<Value>) {
        if condition.kind == .waits { waits.append(condition) } else { changes.append(condition) }
        if condition.kind == .changesInThread { threadCount += 1 }
        awaited.set(AwaitedChange.toMeetCondition, to: true)
    }

    /// Removes a condition, if it is in the table.
    func remove(_ condition: Condition<Value>) {
        if condition.place != nil, condition.kind == .changesInThread { threadCount -= 1 }
        if condition.kind == .waits { waits.remove(condition) } else { changes.remove(condition) }
        awaited.set(AwaitedChange.toMeetCondition, to: !waits.isEmpty || !changes.isEmpty)
    }

    /// Notes that the owner of a condition has come: it tests the condition now, or leaves.
    ///
    /// - Returns: Whether the owner was woken to change the value.
    @discardableResult func arrive(_ condition: Condition<Value>) -> Bool {
        guard condition.isWoken, condition.kind != .waits else { return false }
        condition.isWoken = false  // fault: woken once for ever
        if condition.kind == .changesInTask { dueTime = 0 }
        return true
    }

    /// Chooses the owners to wake for a value whose condition is met: all that only wait for it, and the first one of those that
    /// will change the value. It passes over tasks while one is on its way, unless that one is late.
    ///
    /// Invariant (asked on): while an owner that will change the value waits with a condition that is met, another owner was
    /// woken and is on its way. That owner calls this method when it commits, or leaves the value unchanged. If the owner is a
    /// task that is late, a timer calls it.
    ///
    /// - Returns: Closures that wake the owners.
    @usableFromInline func wakeMet(by value: Value, in storage: ProtectedStorage<Value>) -> [@Sendable () -> Void] {
        var (met, wakes): ([Condition<Value>], [@Sendable () -> Void]) = ([], [])
        for case let wait? in waits.elements where wait.isMet(value) { met.append(wait) }
        for wait in met {
            remove(wait)
            wait.isWoken = true
            wakes.append(wait.wake)
        }
        if changes.isEmpty { return wakes }
        let time = now()
        let isAwaited = dueTime > time
        if !isAwaited { dueTime = 0 }
        // While a task is on its way, only threads are woken.
        if !isAwaited || threadCount > 0 {
            for case let change? in changes.elements where !change.isWoken {
                let isTask = change.kind == .changesInTask
                if isAwaited && isTask || !change.isMet(value) { continue }
                if isTask { dueTime = time + HandoffPolicy.fair }
                change.isWoken = true
                wakes.append(change.wake)
                break  // fault: all that change are woken
            }
        }
        if dueTime != 0, timerTime <= time, changes.count > 1 {
            timerTime = dueTime
            // The timer does not keep the value.
            let (time, reference) = (dueTime, WeakStorage(storage: storage))
            wakes.append { [queue] in LibraryTimer.set(at: time) { queue.async { reference.storage?.askOn() } } }
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
