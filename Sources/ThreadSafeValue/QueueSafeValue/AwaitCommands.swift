//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension QueueSafeValue where Value: Sendable {
    /// Commands that a task awaits.
    @inlinable
    public var async: AwaitSchedule<Value> {
        AwaitSchedule(queue: queue)
    }
}

/// The schedule of commands that a task awaits; the choice of their priority is next.
public struct AwaitSchedule<Value: Sendable>: Sendable {
    @usableFromInline
    let queue: CommandQueue<Value>

    @inlinable
    init(queue: CommandQueue<Value>) {
        self.queue = queue
    }
}

extension AwaitSchedule: CommandSchedule {
    /// Commands of a given priority that a task awaits.
    ///
    /// - Parameter priority: how early they get their turn.
    /// - Returns: the commands, to call one of them.
    @inlinable
    public func priority(_ priority: CommandPriority) -> AwaitCommands<Value> {
        AwaitCommands(queue: queue, priority: priority)
    }
}

/// Commands that a task awaits, without blocking a thread, and that answer with a `Result`.
///
/// ```swift
/// let counter = QueueSafeValue(value: 0)
/// let result = await counter.async.highestPriority.set { $0 += 1 }
/// print(result)
/// ```
///
/// If the turn is free, the closure runs at once and the task is not suspended. Otherwise the command waits in line, and its
/// closure runs on a global queue. The command of a cancelled task answers ``QueueSafeValueError/cancelled`` if it has not
/// started; once it has, it completes.
public struct AwaitCommands<Value: Sendable>: Sendable {
    /// The value as a command finds it.
    public typealias CurrentValue = Value

    /// The value as a command leaves it.
    public typealias UpdatedValue = Value

    @usableFromInline
    let queue: CommandQueue<Value>

    @usableFromInline
    let priority: CommandPriority

    @inlinable
    init(queue: CommandQueue<Value>, priority: CommandPriority) {
        self.queue = queue
        self.priority = priority
    }
}

extension AwaitCommands {
    /// Reads the value.
    ///
    /// - Returns: the value, or why there is none.
    @inlinable
    public func get() async -> Result<CurrentValue, QueueSafeValueError> {
        await queue.performAwaited(priority, isChange: false) { $0 }
    }

    /// Replaces the value.
    ///
    /// - Parameter newValue: the value to set.
    /// - Returns: the new value, or why it was not set.
    @inlinable
    @discardableResult
    public func set(newValue: Value) async -> Result<UpdatedValue, QueueSafeValueError> {
        // The old value comes out, so that it goes away when the turn has been given back.
        let result = await queue.performAwaited(priority, isChange: true) { value in
            var old = newValue
            swap(&value, &old)
            return (updated: value, old: old)
        }
        return result.map(\.updated)
    }

    /// Changes the value in place, in a closure that has it to itself.
    ///
    /// - Parameter accessClosure: called at most once, in the task or on a global queue. If it throws, what it changed stays.
    /// - Returns: the updated value, or why the command failed.
    @inlinable
    @discardableResult
    public func set(
        completion accessClosure: @escaping @Sendable (inout CurrentValue) throws -> Void
    ) async -> Result<UpdatedValue, QueueSafeValueError> {
        await queue.performAwaited(priority, isChange: true) { value in
            try accessClosure(&value)
            return value
        }
    }

    /// Changes the value in place, in an async closure that has it to itself until it returns.
    ///
    /// The turn is kept while the closure is suspended. A command of the same value from inside it, or from a task below it,
    /// answers ``QueueSafeValueError/reentrantCommand``.
    ///
    /// - Parameter accessClosure: called at most once, in the task. If it throws, what it changed stays.
    /// - Returns: the updated value, or why the command failed.
    @inlinable
    @discardableResult
    public func set(
        manualCompletion accessClosure: @Sendable (inout CurrentValue) async throws -> Void
    ) async -> Result<UpdatedValue, QueueSafeValueError> {
        await queue.performAwaitedBody(priority, accessClosure)
    }

    /// Computes something from the value, in a closure that has it to itself.
    ///
    /// - Parameter commandClosure: called at most once, in the task or on a global queue.
    /// - Returns: what the closure returned, or why the command failed.
    @inlinable
    public func map<MappedValue: Sendable>(
        completion commandClosure: @escaping @Sendable (CurrentValue) throws -> MappedValue
    ) async -> Result<MappedValue, QueueSafeValueError> {
        await queue.performAwaited(priority, isChange: false) { try commandClosure($0) }
    }
}
