//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A value with an embedded priority command queue, all of whose commands wait.
///
/// ```swift
/// let counter = QueueSafeSyncedValue(value: 0)
/// counter.highestPriority.set { $0 += 1 }
/// ```
///
/// It is a ``QueueSafeValue`` with its ``QueueSafeValue/wait`` schedule chosen once: a handle, whose copies share the
/// value. The other schedules are those of ``queueSafeValue``.
public struct QueueSafeSyncedValue<Value> {
    @usableFromInline
    let schedule: WaitSchedule<Value>

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - value: The value that commands read and change from now on.
    ///   - pendingCommandLimit: How many commands of queues and of tasks may wait. Only ``queueSafeValue`` has such
    ///     commands; threads do not count.
    public init(value: Value, pendingCommandLimit: Int = .max) {
        schedule = QueueSafeValue(value: value, pendingCommandLimit: pendingCommandLimit).wait
    }
}

extension QueueSafeSyncedValue: QueueSafeContainer {
    /// The same value with all schedules: another handle on it, not a copy.
    public var queueSafeValue: QueueSafeValue<Value> { QueueSafeValue(schedule.queue) }
}

extension QueueSafeSyncedValue: Sendable where Value: Sendable {}

extension QueueSafeSyncedValue: CommandSchedule {
    /// Waiting commands of a given priority.
    ///
    /// - Parameter priority: How early they get their turn.
    /// - Returns: The commands, to call one of them.
    @inlinable @_transparent
    public consuming func priority(_ priority: CommandPriority) -> WaitCommands<Value> {
        schedule.priority(priority)
    }
}
