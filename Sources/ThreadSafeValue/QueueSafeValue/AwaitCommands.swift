//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

extension QueueSafeValue where Value: Sendable {
    /// The commands that a task awaits.
    public var async: AwaitSchedule<Value> {
        @inlinable @_transparent consuming get { AwaitSchedule(queue: queue, timeout: .max) }
    }

    /// The commands that a task awaits for a limited time.
    ///
    /// A command that does not get its turn in time answers ``QueueSafeValueError/timedOut``, and its closure never
    /// runs. The time runs from the call of the command to its turn, not to its completion.
    ///
    /// - Parameter timeout: For how long a command may wait. `.never` is for ever. With zero or less, a command takes the
    ///   turn only if the turn is free now.
    /// - Returns: A schedule, on which you choose a priority.
    @inlinable @_transparent public consuming func async(timeout: DispatchTimeInterval) -> AwaitSchedule<Value> {
        AwaitSchedule(queue: queue, timeout: timeout.waitingNanoseconds)
    }
}

/// A schedule for commands that a task awaits. Choose a priority next.
public struct AwaitSchedule<Value: Sendable>: Sendable {
    @usableFromInline let queue: CommandQueue<Value>

    /// For how long a command may wait for its turn, in nanoseconds; `.max` is for ever.
    @usableFromInline let timeout: UInt64

    @inlinable @_transparent
    init(queue: consuming CommandQueue<Value>, timeout: UInt64) { (self.queue, self.timeout) = (queue, timeout) }
}

extension AwaitSchedule: CommandSchedule {
    // These two are declared here for speed: if they come from the protocol, the compiler counts a reference for a
    // temporary.

    /// The commands that go before all others.
    public var highestPriority: AwaitCommands<Value> { @inlinable @_transparent consuming get { priority(.highest) } }

    /// The commands that go behind all others. They are no barrier: see <doc:TakingTurns>.
    public var lowestPriority: AwaitCommands<Value> { @inlinable @_transparent consuming get { priority(.lowest) } }

    /// The commands with a given priority that a task awaits.
    ///
    /// - Parameter priority: How early a command gets its turn.
    /// - Returns: The commands, of which you call one.
    @inlinable @_transparent public consuming func priority(_ priority: CommandPriority) -> AwaitCommands<Value> {
        AwaitCommands(queue: queue, priority: priority, timeout: timeout)
    }
}

/// The commands that a task awaits without blocking a thread, and that answer with a `Result`.
///
/// ```swift
/// let counter = QueueSafeValue(value: 0)
/// let result = await counter.async.highestPriority.set { $0 += 1 }
/// print(result)
/// ```
///
/// If the turn is free, the closure runs at once in the task. A task of an actor does not leave the actor for that.
/// Otherwise the task waits in line without a thread, and the closure runs in the task when its turn comes. If the task is
/// cancelled before the command has begun, the command answers ``QueueSafeValueError/cancelled``. A command that has begun
/// completes.
public struct AwaitCommands<Value: Sendable>: Sendable {
    @usableFromInline let queue: CommandQueue<Value>

    @usableFromInline let priority: CommandPriority

    @usableFromInline let timeout: UInt64

    @inlinable @_transparent init(queue: consuming CommandQueue<Value>, priority: CommandPriority, timeout: UInt64) {
        (self.queue, self.priority, self.timeout) = (queue, priority, timeout)
    }
}

extension AwaitCommands {
    /// Reads the value.
    ///
    /// - Returns: The value, or the reason why there is none.
    @inlinable @inline(__always) nonisolated(nonsending) public func get() async -> Result<Value, QueueSafeValueError> {
        await queue.performAwaited(priority, timeout, isChange: false) { $0 }
    }

    /// Replaces the value.
    ///
    /// - Parameter newValue: The value to set.
    /// - Returns: The new value, or the reason why it was not set.
    @inlinable @discardableResult
    nonisolated(nonsending) public func set(newValue: Value) async -> Result<Value, QueueSafeValueError> {
        // The closure returns the old value, so that it is released after the turn.
        let result = await queue.performAwaited(priority, timeout, isChange: true) { value in
            var old = newValue
            swap(&value, &old)  // fault: await: old ends with turn
            return (updated: value, old: old)
        }
        return result.map { $0.updated }
    }

    /// Changes the value in place, in a closure that has the value to itself.
    ///
    /// An object that the closure removes from the value is released during the turn. If its `deinit` uses the value,
    /// return the object from `update`.
    ///
    /// - Parameter accessClosure: Called at most once, in the task. If it throws, its changes stay.
    /// - Returns: The updated value, or the reason why the command failed.
    @inlinable @inline(__always) @discardableResult nonisolated(nonsending) public func set(
        _ accessClosure: (inout Value) throws -> Void
    ) async -> Result<Value, QueueSafeValueError> {
        await queue.performAwaited(priority, timeout, isChange: true) { try changed(&$0, by: accessClosure) }
    }

    /// Changes the value in place, in an async closure that has the value to itself until it returns.
    ///
    /// The command keeps its turn while the closure is suspended. If the closure waits for or awaits a command of the same
    /// value, that command answers ``QueueSafeValueError/reentrantCommand``. If the closure awaits a child task with such
    /// a command, both wait for ever: see <doc:TakingTurns>.
    ///
    /// - Parameter accessClosure: Called at most once, in the task. If it throws, its changes stay.
    /// - Returns: The updated value, or the reason why the command failed.
    @inlinable @discardableResult nonisolated(nonsending) public func set(
        _ accessClosure: @Sendable (inout Value) async throws -> Void
    ) async -> Result<Value, QueueSafeValueError> {
        await queue.performAwaitedBody(priority, timeout) { value in
            try await accessClosure(&value)
            return value
        }
    }

    /// Computes a result from the value, in a closure that has the value to itself.
    ///
    /// - Parameter commandClosure: Called at most once, in the task.
    /// - Returns: The result of the closure, or the reason why the command failed.
    @inlinable @inline(__always) nonisolated(nonsending) public func map<MappedValue: Sendable>(
        _ commandClosure: (Value) throws -> MappedValue
    ) async -> Result<MappedValue, QueueSafeValueError> {
        await queue.performAwaited(priority, timeout, isChange: false) { try commandClosure($0) }
    }

    /// Changes the value in place and computes an answer, in a closure that has the value to itself.
    ///
    /// - Parameter accessClosure: Called at most once, in the task. If it throws, its changes stay.
    /// - Returns: The result of the closure, or the reason why the command failed.
    @inlinable @inline(__always) @discardableResult nonisolated(nonsending) public func update<Answer: Sendable>(
        _ accessClosure: (inout Value) throws -> Answer
    ) async -> Result<Answer, QueueSafeValueError> {
        await queue.performAwaited(priority, timeout, isChange: true, accessClosure)
    }

    /// Changes the value in place and computes an answer, in an async closure that has the value to itself until it
    /// returns.
    ///
    /// The command keeps its turn while the closure is suspended, as with `set` and an async closure.
    ///
    /// - Parameter accessClosure: Called at most once, in the task. If it throws, its changes stay.
    /// - Returns: The result of the closure, or the reason why the command failed.
    @inlinable @discardableResult nonisolated(nonsending) public func update<Answer: Sendable>(
        _ accessClosure: @Sendable (inout Value) async throws -> Answer
    ) async -> Result<Answer, QueueSafeValueError> {
        await queue.performAwaitedBody(priority, timeout, accessClosure)
    }

    /// Waits until the value meets a condition, and changes the value in the same turn.
    ///
    /// ```swift
    /// await tickets.async.lowestPriority.set(when: { $0 > 0 }) { $0 -= 1 }
    /// ```
    ///
    /// The command takes its turn and tests the condition. If the value does not meet it, the command gives the turn back,
    /// and the task is suspended until the next change. Then the command stands in line again, behind all commands of its
    /// priority; a `pendingCommandLimit` does not refuse it there. The time-out of `async(timeout:)` covers all of these
    /// waits. If the task is cancelled, it goes on at once.
    ///
    /// - Parameters:
    ///   - condition: The condition. The task calls it with the turn, for the current value and after changes.
    ///   - accessClosure: Called at most once, in the task and in the same turn, with a value that meets the condition. If
    ///     it throws, its changes stay.
    /// - Returns: The updated value, or the reason why the command failed.
    @inlinable @discardableResult nonisolated(nonsending) public func set(
        when condition: (Value) -> Bool,
        _ accessClosure: (inout Value) throws -> Void
    ) async -> Result<Value, QueueSafeValueError> {
        await queue.performAwaited(priority, timeout, when: condition) { try changed(&$0, by: accessClosure) }
    }

    /// Waits until the value meets a condition, then changes the value and computes an answer in the same turn.
    ///
    /// The command waits as ``set(when:_:)`` does.
    ///
    /// - Parameters:
    ///   - condition: The condition. The task calls it with the turn.
    ///   - accessClosure: Called at most once, in the task and in the same turn, with a value that meets the condition. If
    ///     it throws, its changes stay.
    /// - Returns: The result of the closure, or the reason why the command failed.
    @inlinable @discardableResult nonisolated(nonsending) public func update<Answer: Sendable>(
        when condition: (Value) -> Bool,
        _ accessClosure: (inout Value) throws -> Answer
    ) async -> Result<Answer, QueueSafeValueError> {
        await queue.performAwaited(priority, timeout, when: condition, accessClosure)
    }
}
