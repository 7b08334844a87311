//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The side table of one protected value: the waits for a condition, and the listeners to changes.
///
/// Threads that wait for the lock itself are the lock's affair.
@usableFromInline
final class WaiterTable<Value> {
    /// The word beside the value's lock. Touched only while the value lives: by its accesses, and by the listeners
    /// until `finish()`.
    @usableFromInline
    let awaited: AtomicWord

    /// The listeners to changes. It has a lock of its own.
    @usableFromInline
    let broadcaster: ChangeBroadcaster<Value>

    // Taken for moments, also by threads that hold the value's lock; never the other way round.
    @usableFromInline
    let lock = PlatformLock()

    // Guarded by `lock`.
    @usableFromInline
    var conditions = ArrivalList<Condition<Value>>()

    /// Whether the thread that has the value's lock tests the conditions.
    @exclusivity(unchecked)
    @usableFromInline
    var isTesting = false

    /// Those that nobody waits for any more since then.
    @exclusivity(unchecked)
    @usableFromInline
    var left = [Condition<Value>]()

    init(awaited: AtomicWord) {
        self.awaited = awaited
        broadcaster = ChangeBroadcaster { awaited.set(AwaitedChange.any, to: $0) }
    }
}

// What is not guarded by one of the locks never changes.
extension WaiterTable: @unchecked Sendable {}

extension WaiterTable {
    /// Whom to notify of a change, once the value's lock is free.
    @usableFromInline
    struct PendingNotifications {
        /// The conditions that the new value meets.
        @usableFromInline
        var met = [Condition<Value>]()

        @usableFromInline
        var delivery: ChangeBroadcaster<Value>.Delivery?

        @inlinable
        init() {}

        @inlinable
        func deliver() {
            if !met.isEmpty { Condition.wake(met) }
            delivery?.deliver()
        }
    }

    /// Collects whom to notify of a change, under the value's lock, so that all see changes in order.
    @inlinable
    func notifications(for value: Value) -> PendingNotifications {
        let bits = awaited.load()
        var pending = PendingNotifications()
        if bits & AwaitedChange.toMeetCondition != 0 {
            // Tested outside the table's lock, as they may do anything. None can be added meanwhile.
            let tested = beginTests()
            for condition in tested where condition.isMet(by: value) { pending.met.append(condition) }
            pending.met = endTests(met: pending.met)
        }
        if bits & AwaitedChange.any != 0 { pending.delivery = broadcaster.record(value) }
        return pending
    }

    /// The value goes away, and nobody accesses it any more.
    func finish() {
        broadcaster.finish()
    }
}
