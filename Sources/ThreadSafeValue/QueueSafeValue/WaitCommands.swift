//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The schedule of commands that run on the calling thread; the choice of their priority is next.
public struct WaitSchedule<Value> {
    @usableFromInline
    let queue: CommandQueue<Value>

    /// For how long a command may wait for its turn, in nanoseconds; `.max` is for ever.
    @usableFromInline
    let timeout: UInt64

    @inlinable @_transparent
    init(queue: consuming CommandQueue<Value>, timeout: UInt64 = .max) {
        (self.queue, self.timeout) = (queue, timeout)
    }
}

extension WaitSchedule: Sendable where Value: Sendable {}

extension WaitSchedule: CommandSchedule {
    // Here for speed: of a temporary, the compiler counts a reference where they come from the protocol.

    /// Commands that go before all others.
    public var highestPriority: WaitCommands<Value> { @inlinable @_transparent consuming get { priority(.highest) } }

    /// Commands that go behind all others. Not a barrier: see <doc:TakingTurns>.
    public var lowestPriority: WaitCommands<Value> { @inlinable @_transparent consuming get { priority(.lowest) } }

    /// Commands of a given priority that wait.
    ///
    /// - Parameter priority: How early they get their turn.
    /// - Returns: The commands, to call one of them.
    @inlinable @_transparent
    public consuming func priority(_ priority: CommandPriority) -> WaitCommands<Value> {
        WaitCommands(queue: queue, priority: priority, timeout: timeout)
    }
}

/// Commands that wait for their turn, run on the calling thread and answer with a `Result`.
///
/// The turn goes to the waiting command of highest priority, among equals to the one that came first. A command that
/// finds the turn free costs two atomic operations, and allocates nothing but what a `done` needs. `mediumPriority` and
/// its neighbours count a reference at each use; `priority(.medium)` does not.
///
/// A command that would wait forever answers: ``QueueSafeValueError/reentrantCommand`` at once inside another command
/// of the same value on the same thread; ``QueueSafeValueError/circularWait`` a moment later if it closes a circle,
/// unless it has a time-out.
public struct WaitCommands<Value> {
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

extension WaitCommands: Sendable where Value: Sendable {}

extension WaitCommands {
    /// Reads the value.
    ///
    /// - Returns: The value, or why there is none.
    @inlinable @_transparent
    public func get() -> Result<Value, QueueSafeValueError> {
        queue.perform(priority, timeout, isChange: false) { $0 }
    }

    /// Reads the value in a closure, which has it to itself.
    ///
    /// - Parameter commandClosure: Called once on the calling thread with the value, or with why there is none.
    @inlinable
    public func get(_ commandClosure: (Result<Value, QueueSafeValueError>) -> Void) {
        let result = queue.perform(priority, timeout, isChange: false) { commandClosure(.success($0)) }
        if case .failure(let error) = result { commandClosure(.failure(error)) }
    }

    /// Reads the value in a closure and keeps it to the command until `done` is called.
    ///
    /// The calling thread waits for `done`, which may be called on another. If the last copy of `done` goes away
    /// uncalled, the command ends with ``QueueSafeValueError/completionDropped``.
    ///
    /// - Parameter commandClosure: Called once on the calling thread with the value, or with why there is none, and
    ///   `done`.
    /// - Returns: The value that the closure got, or why the command failed.
    @inlinable @discardableResult
    public func get(
        _ commandClosure: (Result<Value, QueueSafeValueError>, @escaping CommandCompletionClosure) -> Void
    ) -> Result<Value, QueueSafeValueError> {
        var isCalled = false
        let result = queue.performManually(priority, timeout, isChange: false) { value, done in
            isCalled = true
            commandClosure(.success(value), done)
        }
        if !isCalled, case .failure(let error) = result { commandClosure(.failure(error), {}) }
        return result
    }

    /// Replaces the value.
    ///
    /// - Parameter newValue: The value to set.
    /// - Returns: The new value, or why it was not set.
    @inlinable @discardableResult
    public func set(newValue: consuming Value) -> Result<Value, QueueSafeValueError> {
        // The old value goes away after the command, without the turn.
        var other = newValue
        return queue.perform(priority, timeout, isChange: true) { value in
            swap(&value, &other)  // fault: wait: old ends with turn
            return value
        }
    }

    /// Changes the value in place, in a closure that has it to itself.
    ///
    /// What the closure takes out of the value ends with the turn. If its `deinit` uses the value, return it from
    /// `update`.
    ///
    /// - Parameter accessClosure: Called at most once on the calling thread, with the value; not called if the command
    ///   fails before its turn. If it throws, what it changed stays.
    /// - Returns: The updated value, or why the command failed. Whoever keeps a large collection from here makes the
    ///   next change copy it.
    @inlinable @_transparent @discardableResult
    public func set(
        _ accessClosure: (inout Value) throws -> Void
    ) -> Result<Value, QueueSafeValueError> {
        queue.perform(priority, timeout, isChange: true) { value in
            try accessClosure(&value)
            return value
        }
    }

    /// Changes the value in place and keeps it to the command until `done` is called.
    ///
    /// The calling thread waits for `done`, which may be called on another, also before the closure returns: the
    /// command ends when both have happened. If the last copy of `done` goes away uncalled, it ends with
    /// ``QueueSafeValueError/completionDropped``.
    ///
    /// - Parameter accessClosure: Called at most once on the calling thread, with the value and `done`. If it throws,
    ///   the command ends, and what it changed stays.
    /// - Returns: The updated value, or why the command failed.
    @inlinable @discardableResult
    public func set(
        _ accessClosure: (inout Value, @escaping CommandCompletionClosure) throws -> Void
    ) -> Result<Value, QueueSafeValueError> {
        queue.performManually(priority, timeout, isChange: true, accessClosure)
    }

    /// Computes something from the value, in a closure that has it to itself.
    ///
    /// - Parameter commandClosure: Called at most once on the calling thread, with the value.
    /// - Returns: What the closure returned, or why the command failed.
    @inlinable @_transparent
    public func map<MappedValue>(
        _ commandClosure: (Value) throws -> MappedValue
    ) -> Result<MappedValue, QueueSafeValueError> {
        queue.perform(priority, timeout, isChange: false) { try commandClosure($0) }
    }

    /// Changes the value in place and computes an answer, in a closure that has it to itself.
    ///
    /// ```swift
    /// let number = counter.wait.lowestPriority.update { counter in
    ///     counter += 1
    ///     return counter
    /// }
    /// ```
    ///
    /// - Parameter accessClosure: Called at most once on the calling thread, with the value. If it throws, what it
    ///   changed stays.
    /// - Returns: What the closure returned, or why the command failed.
    @inlinable @_transparent @discardableResult
    public func update<Answer>(
        _ accessClosure: (inout Value) throws -> Answer
    ) -> Result<Answer, QueueSafeValueError> {
        queue.perform(priority, timeout, isChange: true, accessClosure)
    }
}
