//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

extension QueueSafeValue where Value: Sendable {
    /// Commands that a task awaits.
    public var async: AwaitSchedule<Value> {
        @inlinable @_transparent consuming get { AwaitSchedule(queue: queue, timeout: .max) }
    }

    /// Commands that a task awaits for a limited time.
    ///
    /// A command that does not get its turn in time answers ``QueueSafeValueError/timedOut``, and its closure never
    /// runs. The time counts from the call of the command to its turn, not to its completion.
    ///
    /// - Parameter timeout: For how long a command may wait. `.never` is for ever; with zero or less it takes the turn
    ///   only if it is free now.
    /// - Returns: A schedule, on which to choose a priority.
    @inlinable @_transparent
    public consuming func async(timeout: DispatchTimeInterval) -> AwaitSchedule<Value> {
        AwaitSchedule(queue: queue, timeout: timeout.waitingNanoseconds)
    }
}

/// The schedule of commands that a task awaits; the choice of their priority is next.
public struct AwaitSchedule<Value: Sendable>: Sendable {
    @usableFromInline
    let queue: CommandQueue<Value>

    /// For how long a command may wait for its turn, in nanoseconds; `.max` is for ever.
    @usableFromInline
    let timeout: UInt64

    @inlinable @_transparent
    init(queue: consuming CommandQueue<Value>, timeout: UInt64) {
        (self.queue, self.timeout) = (queue, timeout)
    }
}

extension AwaitSchedule: CommandSchedule {
    // Here for speed: of a temporary, the compiler counts a reference where they come from the protocol.

    /// Commands that go before all others.
    public var highestPriority: AwaitCommands<Value> { @inlinable @_transparent consuming get { priority(.highest) } }

    /// Commands that go behind all others. Not a barrier: see <doc:TakingTurns>.
    public var lowestPriority: AwaitCommands<Value> { @inlinable @_transparent consuming get { priority(.lowest) } }

    /// Commands of a given priority that a task awaits.
    ///
    /// - Parameter priority: How early they get their turn.
    /// - Returns: The commands, to call one of them.
    @inlinable @_transparent
    public consuming func priority(_ priority: CommandPriority) -> AwaitCommands<Value> {
        AwaitCommands(queue: queue, priority: priority, timeout: timeout)
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
/// If the turn is free, the closure runs at once, in the task; a task of an actor does not leave the actor for it.
/// Otherwise the task waits in line, without a thread, and the closure runs in the task when its turn comes. The
/// command of a cancelled task answers ``QueueSafeValueError/cancelled`` if it has not started; once it has, it
/// completes.
public struct AwaitCommands<Value: Sendable>: Sendable {
    @usableFromInline
    let queue: CommandQueue<Value>

    @usableFromInline
    let priority: CommandPriority

    @usableFromInline
    let timeout: UInt64

    @inlinable @_transparent
    init(queue: consuming CommandQueue<Value>, priority: CommandPriority, timeout: UInt64) {
        (self.queue, self.priority, self.timeout) = (queue, priority, timeout)
    }
}

extension AwaitCommands {
    /// Reads the value.
    ///
    /// - Returns: The value, or why there is none.
    @inlinable @inline(__always)
    nonisolated(nonsending) public func get() async -> Result<Value, QueueSafeValueError> {
        await queue.performAwaited(priority, timeout, isChange: false) { $0 }
    }

    /// Replaces the value.
    ///
    /// - Parameter newValue: The value to set.
    /// - Returns: The new value, or why it was not set.
    @inlinable @discardableResult
    nonisolated(nonsending) public func set(newValue: Value) async -> Result<Value, QueueSafeValueError> {
        // The old value comes out, so that it goes away when the turn has been given back.
        let result = await queue.performAwaited(priority, timeout, isChange: true) { value in
            var old = newValue
            swap(&value, &old)  // fault: await: old ends with turn
            return (updated: value, old: old)
        }
        return result.map(\.updated)
    }

    /// Changes the value in place, in a closure that has it to itself.
    ///
    /// What the closure takes out of the value ends with the turn. If its `deinit` uses the value, return it from
    /// `update`.
    ///
    /// - Parameter accessClosure: Called at most once, in the task. If it throws, what it changed
    ///   stays.
    /// - Returns: The updated value, or why the command failed.
    @inlinable @inline(__always) @discardableResult
    nonisolated(nonsending) public func set(
        _ accessClosure: (inout Value) throws -> Void
    ) async -> Result<Value, QueueSafeValueError> {
        await queue.performAwaited(priority, timeout, isChange: true) { value in
            try accessClosure(&value)
            return value
        }
    }

    /// Changes the value in place, in an async closure that has it to itself until it returns.
    ///
    /// The turn is kept while the closure is suspended. A command of the same value that the closure waits for or
    /// awaits answers ``QueueSafeValueError/reentrantCommand``. In a child task that the closure awaits, it waits for
    /// ever: see <doc:TakingTurns>.
    ///
    /// - Parameter accessClosure: Called at most once, in the task. If it throws, what it changed
    ///   stays.
    /// - Returns: The updated value, or why the command failed.
    @inlinable @discardableResult
    nonisolated(nonsending) public func set(
        _ accessClosure: @Sendable (inout Value) async throws -> Void
    ) async -> Result<Value, QueueSafeValueError> {
        await queue.performAwaitedBody(priority, timeout) { value in
            try await accessClosure(&value)
            return value
        }
    }

    /// Computes something from the value, in a closure that has it to itself.
    ///
    /// - Parameter commandClosure: Called at most once, in the task.
    /// - Returns: What the closure returned, or why the command failed.
    @inlinable @inline(__always)
    nonisolated(nonsending) public func map<MappedValue: Sendable>(
        _ commandClosure: (Value) throws -> MappedValue
    ) async -> Result<MappedValue, QueueSafeValueError> {
        await queue.performAwaited(priority, timeout, isChange: false) { try commandClosure($0) }
    }

    /// Changes the value in place and computes an answer, in a closure that has it to itself.
    ///
    /// - Parameter accessClosure: Called at most once, in the task. If it throws, what it changed
    ///   stays.
    /// - Returns: What the closure returned, or why the command failed.
    @inlinable @inline(__always) @discardableResult
    nonisolated(nonsending) public func update<Answer: Sendable>(
        _ accessClosure: (inout Value) throws -> Answer
    ) async -> Result<Answer, QueueSafeValueError> {
        await queue.performAwaited(priority, timeout, isChange: true, accessClosure)
    }

    /// Changes the value in place and computes an answer, in an async closure that has the value to itself until it
    /// returns.
    ///
    /// The turn is kept while the closure is suspended, as with `set` and an async closure.
    ///
    /// - Parameter accessClosure: Called at most once, in the task. If it throws, what it changed
    ///   stays.
    /// - Returns: What the closure returned, or why the command failed.
    @inlinable @discardableResult
    nonisolated(nonsending) public func update<Answer: Sendable>(
        _ accessClosure: @Sendable (inout Value) async throws -> Answer
    ) async -> Result<Answer, QueueSafeValueError> {
        await queue.performAwaitedBody(priority, timeout, accessClosure)
    }
}

extension AwaitCommands {
    /// Waits until the value meets a condition, then changes it, in one step: no other command comes between.
    ///
    /// ```swift
    /// await tickets.async.lowestPriority.set(when: { $0 > 0 }) { $0 -= 1 }
    /// ```
    ///
    /// The command takes its turn and tests the condition. If it is not met, it gives the turn back, and the task is
    /// suspended until the next change; then the command stands in line again, behind all of its priority. A
    /// `pendingCommandLimit` does not refuse it there. The time of `async(timeout:)` is for all of that, and a
    /// cancelled task goes on at once.
    ///
    /// - Parameters:
    ///   - condition: Whether this is the value to wait for; called in the task, with the turn,
    ///     for the value as it is now and after changes.
    ///   - accessClosure: Called at most once, there too, with a value that meets the condition. If it throws, what it
    ///     changed stays.
    /// - Returns: The updated value, or why the command failed.
    @inlinable @discardableResult
    nonisolated(nonsending) public func set(
        when condition: (Value) -> Bool,
        _ accessClosure: (inout Value) throws -> Void
    ) async -> Result<Value, QueueSafeValueError> {
        await queue.performAwaited(priority, timeout, when: condition) { value in
            try accessClosure(&value)
            return value
        }
    }

    /// Waits until the value meets a condition, then changes it and computes an answer, in one step.
    ///
    /// It waits as ``set(when:_:)`` does.
    ///
    /// - Parameters:
    ///   - condition: Whether this is the value to wait for; called in the task, with the turn.
    ///   - accessClosure: Called at most once, there too, with a value that meets the condition. If it throws, what it
    ///     changed stays.
    /// - Returns: What the closure returned, or why the command failed.
    @inlinable @discardableResult
    nonisolated(nonsending) public func update<Answer: Sendable>(
        when condition: (Value) -> Bool,
        _ accessClosure: (inout Value) throws -> Answer
    ) async -> Result<Answer, QueueSafeValueError> {
        await queue.performAwaited(priority, timeout, when: condition, accessClosure)
    }
}
