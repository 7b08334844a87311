//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A schedule for commands that run on the calling thread. Choose a priority next.
public struct WaitSchedule<Value> {
    @usableFromInline let queue: CommandQueue<Value>

    /// For how long a command may wait for its turn, in nanoseconds; `.max` is for ever.
    @usableFromInline let timeout: UInt64

    @inlinable @_transparent
    init(queue: consuming CommandQueue<Value>, timeout: UInt64 = .max) { (self.queue, self.timeout) = (queue, timeout) }
}

extension WaitSchedule: Sendable where Value: Sendable {}

extension WaitSchedule: CommandSchedule {
    // These two are declared here for speed: if they come from the protocol, the compiler counts a reference for a
    // temporary.

    /// The commands that go before all others.
    public var highestPriority: WaitCommands<Value> { @inlinable @_transparent consuming get { priority(.highest) } }

    /// The commands that go behind all others. They are no barrier: see <doc:TakingTurns>.
    public var lowestPriority: WaitCommands<Value> { @inlinable @_transparent consuming get { priority(.lowest) } }

    /// The commands with a given priority, which wait for their turn.
    ///
    /// - Parameter priority: How early a command gets its turn.
    /// - Returns: The commands, of which you call one.
    @inlinable @_transparent public consuming func priority(_ priority: CommandPriority) -> WaitCommands<Value> {
        WaitCommands(queue: queue, priority: priority, timeout: timeout)
    }
}

/// The commands that wait for their turn, run on the calling thread and answer with a `Result`.
///
/// The waiting command of the highest priority gets the turn; among equals, the first one. If the turn is free, a command
/// costs two atomic operations, and allocates nothing unless its closure takes a `done`. `lowPriority`, `mediumPriority`
/// and `highPriority` count a reference at each use, and `priority(.medium)` does not.
///
/// Two kinds of endless wait answer with an error. Inside another command of the same value on the same thread,
/// a command answers ``QueueSafeValueError/reentrantCommand`` at once. If it closes a circle of waits and has no time-out, it
/// answers ``QueueSafeValueError/circularWait`` a moment later.
public struct WaitCommands<Value> {
    @usableFromInline let queue: CommandQueue<Value>

    @usableFromInline let priority: CommandPriority

    @usableFromInline let timeout: UInt64

    @inlinable @_transparent init(queue: consuming CommandQueue<Value>, priority: CommandPriority, timeout: UInt64) {
        (self.queue, self.priority, self.timeout) = (queue, priority, timeout)
    }
}

extension WaitCommands: Sendable where Value: Sendable {}

extension WaitCommands {
    /// Reads the value.
    ///
    /// - Returns: The value, or the reason why there is none.
    @inlinable @_transparent public func get() -> Result<Value, QueueSafeValueError> {
        queue.perform(priority, timeout, isChange: false) { $0 }
    }

    /// Reads the value in a closure, which has the value to itself.
    ///
    /// - Parameter commandClosure: Called once on the calling thread, with the value, or with the reason why there is none.
    @inlinable public func get(_ commandClosure: (Result<Value, QueueSafeValueError>) -> Void) {
        let result = queue.perform(priority, timeout, isChange: false) { commandClosure(.success($0)) }
        if case .failure(let error) = result { commandClosure(.failure(error)) }
    }

    /// Reads the value in a closure, and keeps the turn until `done` is called.
    ///
    /// The calling thread waits until any thread calls `done`. If the last copy of `done` is released without a call, the
    /// command ends with ``QueueSafeValueError/completionDropped``.
    ///
    /// - Parameter commandClosure: Called once on the calling thread, with `done`, and with the value or the reason why
    ///   there is none.
    /// - Returns: The value that the closure got, or the reason why the command failed.
    @inlinable @discardableResult public func get(
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
    /// - Returns: The new value, or the reason why it was not set.
    @inlinable @discardableResult public func set(newValue: consuming Value) -> Result<Value, QueueSafeValueError> {
        // The old value is released after the command, without the turn.
        var other = newValue
        return queue.perform(priority, timeout, isChange: true) { value in
            swap(&value, &other)  // fault: wait: old ends with turn
            return value
        }
    }

    /// Changes the value in place, in a closure that has the value to itself.
    ///
    /// An object that the closure removes from the value is released during the turn. If its `deinit` uses the value,
    /// return the object from `update`.
    ///
    /// - Parameter accessClosure: Called at most once on the calling thread, with the value. It is not called if the
    ///   command fails before its turn. If it throws, its changes stay.
    /// - Returns: A copy of the updated value, or the reason why the command failed. If you keep a large collection that
    ///   this returns, the next change copies the collection. For a structure with many members, and in generic code,
    ///   `update` is faster.
    @inlinable @_transparent @discardableResult
    public func set(_ accessClosure: (inout Value) throws -> Void) -> Result<Value, QueueSafeValueError> {
        queue.perform(priority, timeout, isChange: true) { try changed(&$0, by: accessClosure) }
    }

    /// Changes the value in place, and keeps the turn until `done` is called.
    ///
    /// The calling thread waits until any thread calls `done`, perhaps before the closure returns: the command ends when
    /// both have happened. If the last copy of `done` is released without a call, the command ends with
    /// ``QueueSafeValueError/completionDropped``.
    ///
    /// - Parameter accessClosure: Called at most once on the calling thread, with the value and `done`. If it throws, the
    ///   command ends, and its changes stay.
    /// - Returns: The updated value, or the reason why the command failed.
    @inlinable @discardableResult public func set(
        _ accessClosure: (inout Value, @escaping CommandCompletionClosure) throws -> Void
    ) -> Result<Value, QueueSafeValueError> {
        queue.performManually(priority, timeout, isChange: true, accessClosure)
    }

    /// Computes a result from the value, in a closure that has the value to itself.
    ///
    /// - Parameter commandClosure: Called at most once on the calling thread, with the value.
    /// - Returns: The result of the closure, or the reason why the command failed.
    @inlinable @_transparent public func map<MappedValue>(
        _ commandClosure: (Value) throws -> MappedValue
    ) -> Result<MappedValue, QueueSafeValueError> {
        queue.perform(priority, timeout, isChange: false) { try commandClosure($0) }
    }

    /// Changes the value in place and computes an answer, in a closure that has the value to itself.
    ///
    /// ```swift
    /// let number = counter.wait.lowestPriority.update { counter in
    ///     counter += 1
    ///     return counter
    /// }
    /// ```
    ///
    /// - Parameter accessClosure: Called at most once on the calling thread, with the value. If it throws, its changes stay.
    /// - Returns: The result of the closure, or the reason why the command failed.
    @inlinable @_transparent @discardableResult
    public func update<Answer>(_ accessClosure: (inout Value) throws -> Answer) -> Result<Answer, QueueSafeValueError> {
        queue.perform(priority, timeout, isChange: true, accessClosure)
    }
}

/// Changes a value in place, and returns it.
@inlinable @_transparent
func changed<Value>(_ value: inout Value, by change: (inout Value) throws -> Void) rethrows -> Value {
    try change(&value)
    return value
}
