//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What every queue-safe value has, whichever schedules it shows: changes, suspending, counts and cancelling.
///
/// ``QueueSafeValue``, ``QueueSafeSyncedValue`` and ``QueueSafeAsyncedValue`` are such handles. There is no need to
/// write others.
public protocol QueueSafeContainer<Value> {
    /// The type of the value.
    associatedtype Value

    /// The same value with all schedules: another handle on it, not a copy.
    var queueSafeValue: QueueSafeValue<Value> { get }
}

extension QueueSafeContainer {
    @inlinable
    var queue: CommandQueue<Value> { queueSafeValue.queue }
}
