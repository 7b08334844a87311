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
/// It is a ``QueueSafeValue`` with its ``QueueSafeValue/wait`` schedule chosen once.
public final class QueueSafeSyncedValue<Value> {
    @usableFromInline
    let queue: CommandQueue<Value>

    /// Creates a container around a value.
    ///
    /// - Parameter value: the value that commands read and change from now on.
    public init(value: Value) {
        queue = CommandQueue(value)
    }

    deinit {
        queue.close()
    }
}

extension QueueSafeSyncedValue: Sendable where Value: Sendable {}

extension QueueSafeSyncedValue: CommandSchedule {
    /// Waiting commands of a given priority.
    ///
    /// - Parameter priority: how early they get their turn.
    /// - Returns: the commands, to call one of them.
    @inlinable
    public func priority(_ priority: CommandPriority) -> WaitCommands<Value> {
        WaitSchedule(queue: queue).priority(priority)
    }
}
