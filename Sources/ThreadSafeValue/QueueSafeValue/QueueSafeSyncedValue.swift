//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A value with an embedded priority command queue, whose commands all run on the calling thread.
///
/// ```swift
/// let counter = QueueSafeSyncedValue(value: 0)
/// counter.highestPriority.set { $0 += 1 }
/// ```
///
/// This is a ``QueueSafeValue`` whose ``QueueSafeValue/wait`` schedule is chosen once. It is a handle, so its copies share
/// the value. ``queueSafeValue`` has the other schedules.
public struct QueueSafeSyncedValue<Value> {
    @usableFromInline let schedule: WaitSchedule<Value>

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - value: The value that commands read and change from now on.
    ///   - pendingCommandLimit: How many commands of queues and of tasks may wait. Threads do not count, so the limit
    ///     matters only for the commands of ``queueSafeValue``.
    public init(value: Value, pendingCommandLimit: Int = .max) {
        schedule = QueueSafeValue(value: value, pendingCommandLimit: pendingCommandLimit).wait
    }
}

extension QueueSafeSyncedValue: QueueSafeContainer, CommandSchedule {
    /// Another handle for the same value, with all schedules.
    public var queueSafeValue: QueueSafeValue<Value> { QueueSafeValue(schedule.queue) }

    /// The commands with a given priority, which wait for their turn.
    ///
    /// - Parameter priority: How early a command gets its turn.
    /// - Returns: The commands, of which you call one.
    @inlinable @_transparent
    public consuming func priority(_ priority: CommandPriority) -> WaitCommands<Value> { schedule.priority(priority) }
}

extension QueueSafeSyncedValue: Sendable where Value: Sendable {}
