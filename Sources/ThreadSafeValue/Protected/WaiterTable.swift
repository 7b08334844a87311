//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The side table of one protected value: the waits for a condition, and the listeners to changes.
///
/// Threads that wait for the lock itself are the lock's affair.
final class WaiterTable<Value> {
    /// The word beside the value's lock. Touched only while the value lives: by its accesses, and by the listeners until
    /// `finish()`.
    let awaited: AtomicWord

    /// The listeners to changes. It has a lock of its own.
    let broadcaster: ChangeBroadcaster<Value>

    // Taken for moments, also by threads that hold the value's lock; never the other way round.
    let lock = PlatformLock()

    // Guarded by `lock`. In the order of arrival.
    var conditions = [Condition<Value>]()

    init(awaited: AtomicWord) {
        self.awaited = awaited
        broadcaster = ChangeBroadcaster { isListenedTo in
            awaited.set(AwaitedChange.any, to: isListenedTo)
        }
    }
}

// What is not guarded by one of the locks never changes.
extension WaiterTable: @unchecked Sendable {}

extension WaiterTable {
    /// Whom to notify of a change, once the value's lock is free.
    struct PendingNotifications {
        fileprivate var conditions: Conditions?
        fileprivate var delivery: ChangeBroadcaster<Value>.Delivery?

        func deliver() {
            for condition in conditions?.met ?? [] { condition.parker.wake() }
            delivery?.deliver()
        }
    }

    /// Collects whom to notify of a change, under the value's lock, so that all see changes in order.
    func notifications(for value: Value) -> PendingNotifications {
        let bits = awaited.load()
        var pending = PendingNotifications()
        if bits & AwaitedChange.toMeetCondition != 0 { pending.conditions = endWaits(metBy: value) }
        if bits & AwaitedChange.any != 0 { pending.delivery = broadcaster.record(value) }
        return pending
    }

    /// The value goes away, and nobody accesses it any more.
    func finish() {
        broadcaster.finish()
    }
}
