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
/// It is a ``QueueSafeValue`` with its ``QueueSafeValue/wait`` schedule chosen once: a handle, whose copies share the value.
public struct QueueSafeSyncedValue<Value> {
    // Stored for the reason in `WaitSchedule`.

    /// Commands that go before all others.
    public let highestPriority: WaitCommands<Value>

    /// Commands that go behind all of higher priority. Not a barrier: see <doc:TakingTurns> for those of its own priority.
    public let lowestPriority: WaitCommands<Value>

    /// Creates a value.
    ///
    /// - Parameter value: the value that commands read and change from now on.
    public init(value: Value) {
        let wait = QueueSafeValue(value: value).wait
        highestPriority = wait.highestPriority
        lowestPriority = wait.lowestPriority
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
        WaitCommands(queue: highestPriority.queue, priority: priority, timeout: .max)
    }
}
