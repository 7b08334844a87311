//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A handle for a queue-safe value, whichever schedules it has. You can listen to changes, suspend the value, and count and
/// cancel its commands.
///
/// ``QueueSafeValue``, ``QueueSafeSyncedValue`` and ``QueueSafeAsyncedValue`` conform. You need not write other types that
/// do.
public protocol QueueSafeContainer<Value> {
    /// The type of the value.
    associatedtype Value

    /// Another handle for the same value, with all schedules.
    var queueSafeValue: QueueSafeValue<Value> { get }
}

extension QueueSafeContainer {
    @inlinable var queue: CommandQueue<Value> { queueSafeValue.queue }
}
