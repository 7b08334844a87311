//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

/// A value with an embedded priority command queue, all of whose commands run on one target queue.
///
/// ```swift
/// let counter = QueueSafeAsyncedValue(value: 0, queue: .main)
/// counter.highestPriority.set { $0 += 1 }
/// ```
///
/// It is a ``QueueSafeValue`` with its ``QueueSafeValue/async(performIn:)-(DispatchQueue)`` schedule chosen once: a
/// handle, whose copies share the value. The other schedules are those of ``queueSafeValue``.
public struct QueueSafeAsyncedValue<Value: Sendable>: Sendable {
    @usableFromInline
    let schedule: AsyncSchedule<Value>

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - value: The value that commands read and change from now on.
    ///   - queue: Where the closures of the commands run. It is occupied only while one of them does.
    ///   - pendingCommandLimit: How many commands of queues and of tasks may wait. A further one is not accepted, and
    ///     its completion gets ``QueueSafeValueError/commandQueueFull``.
    public init(value: Value, queue: DispatchQueue, pendingCommandLimit: Int = .max) {
        schedule = QueueSafeValue(value: value, pendingCommandLimit: pendingCommandLimit).async(performIn: queue)
    }
}

extension QueueSafeAsyncedValue: QueueSafeContainer {
    /// The same value with all schedules: another handle on it, not a copy.
    public var queueSafeValue: QueueSafeValue<Value> { QueueSafeValue(schedule.queue) }
}

extension QueueSafeAsyncedValue: CommandSchedule {
    /// Commands of a given priority on the target queue.
    ///
    /// - Parameter priority: How early they get their turn.
    /// - Returns: The commands, to call one of them.
    @inlinable @_transparent
    public consuming func priority(_ priority: CommandPriority) -> AsyncCommands<Value> {
        schedule.priority(priority)
    }
}
