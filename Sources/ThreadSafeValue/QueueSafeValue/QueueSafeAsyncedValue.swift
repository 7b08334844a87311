//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

/// A value with an embedded priority command queue, whose commands all run on one target queue.
///
/// ```swift
/// let counter = QueueSafeAsyncedValue(value: 0, queue: .main)
/// counter.highestPriority.set { $0 += 1 }
/// ```
///
/// This is a ``QueueSafeValue`` whose ``QueueSafeValue/async(performIn:)-(DispatchQueue)`` schedule is chosen once. It is a
/// handle, so its copies share the value. ``queueSafeValue`` has the other schedules.
public struct QueueSafeAsyncedValue<Value: Sendable>: Sendable {
    @usableFromInline let schedule: AsyncSchedule<Value>

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - value: The value that commands read and change from now on.
    ///   - queue: The queue where the closures of the commands run. It is occupied only while a closure runs.
    ///   - pendingCommandLimit: How many commands of queues and of tasks may wait. A further command is not accepted, and
    ///     its completion gets ``QueueSafeValueError/commandQueueFull``.
    public init(value: Value, queue: DispatchQueue, pendingCommandLimit: Int = .max) {
        schedule = QueueSafeValue(value: value, pendingCommandLimit: pendingCommandLimit).async(performIn: queue)
    }
}

extension QueueSafeAsyncedValue: QueueSafeContainer, CommandSchedule {
    /// Another handle for the same value, with all schedules.
    public var queueSafeValue: QueueSafeValue<Value> { QueueSafeValue(schedule.queue) }

    /// The commands with a given priority on the target queue.
    ///
    /// - Parameter priority: How early a command gets its turn.
    /// - Returns: The commands, of which you call one.
    @inlinable @_transparent
    public consuming func priority(_ priority: CommandPriority) -> AsyncCommands<Value> { schedule.priority(priority) }
}
