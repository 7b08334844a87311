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
        // The conditions that the new value was tested for, and those of them that it meets. What a condition has
        // captured may run code when it goes away, so all are kept until the value's lock is free.
        @usableFromInline
        var tested = [Condition<Value>]()

        @usableFromInline
        var met = [Condition<Value>]()

        @usableFromInline
        var delivery: ChangeBroadcaster<Value>.Delivery?

        @inlinable
        init() {}

        @inlinable
        func deliver() {
            for condition in met { condition.wake() }
            delivery?.deliver()
        }
    }

    /// Collects whom to notify of a change, under the value's lock, so that all see changes in order.
    @inlinable
    func notifications(for value: Value) -> PendingNotifications {
        let bits = awaited.load()
        var pending = PendingNotifications()
        if bits & AwaitedChange.toMeetCondition != 0 {
            // Tested outside the table's lock, as they may do anything. None can be added meanwhile. A real copy: the
            // thread sanitizer does not see what orders the end of one that shares its memory before the next change.
            pending.tested = lock.around { conditions.elements.compactMap { $0 } }
            for condition in pending.tested where condition.isMet(value) { pending.met.append(condition) }
            if !pending.met.isEmpty { pending.met = end(pending.met) }
        }
        if bits & AwaitedChange.any != 0 { pending.delivery = broadcaster.record(value) }
        return pending
    }

    /// The value goes away, and nobody accesses it any more.
    func finish() {
        broadcaster.finish()
    }
}
