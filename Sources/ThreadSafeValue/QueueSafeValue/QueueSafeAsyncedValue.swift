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
/// It is a ``QueueSafeValue`` with its ``QueueSafeValue/async(performIn:)-(DispatchQueue)`` schedule chosen once: a handle,
/// whose copies share the value.
public struct QueueSafeAsyncedValue<Value: Sendable>: Sendable {
    @usableFromInline
    let schedule: AsyncSchedule<Value>

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - value: the value that commands read and change from now on.
    ///   - queue: where the closures of the commands run. It is occupied only while one of them does.
    public init(value: Value, queue: DispatchQueue) {
        schedule = QueueSafeValue(value: value).async(performIn: queue)
    }
}

extension QueueSafeAsyncedValue: CommandSchedule {
    /// Commands of a given priority on the target queue.
    ///
    /// - Parameter priority: how early they get their turn.
    /// - Returns: the commands, to call one of them.
    @inlinable
    public func priority(_ priority: CommandPriority) -> AsyncCommands<Value> {
        schedule.priority(priority)
    }
}
