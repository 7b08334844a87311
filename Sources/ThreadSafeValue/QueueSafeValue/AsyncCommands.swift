//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

/// A schedule for commands that run on a target queue. Choose a priority next.
public struct AsyncSchedule<Value: Sendable>: Sendable {
    @usableFromInline let queue: CommandQueue<Value>

    @usableFromInline let target: DispatchQueue

    @inlinable @_transparent init(queue: consuming CommandQueue<Value>, target: consuming DispatchQueue) {
        (self.queue, self.target) = (queue, target)
    }
}

extension AsyncSchedule: CommandSchedule {
    /// The commands with a given priority on the target queue.
    ///
    /// - Parameter priority: How early a command gets its turn.
    /// - Returns: The commands, of which you call one.
    @inlinable @_transparent public consuming func priority(_ priority: CommandPriority) -> AsyncCommands<Value> {
        AsyncCommands(schedule: self, priority: priority)
    }
}

/// The commands that wait in line without a thread, run on a target queue, and report there.
///
/// A call submits a command, returns at once and blocks nobody. The closure and the completion of the command always run
/// on the target queue. The completion runs after the command has given its turn back, so it may wait for the value.
///
/// An accepted command runs even if no handle of the value is left, unless the value is suspended. If the target queue
/// does not start a command soon, other commands go first until it does: see <doc:TakingTurns>.
public struct AsyncCommands<Value: Sendable>: Sendable {
    @usableFromInline let schedule: AsyncSchedule<Value>

    @usableFromInline let priority: CommandPriority

    @inlinable @_transparent init(schedule: consuming AsyncSchedule<Value>, priority: CommandPriority) {
        (self.schedule, self.priority) = (schedule, priority)
    }
}

extension AsyncCommands {
    /// Reads the value in a closure, which has the value to itself.
    ///
    /// - Parameter commandClosure: Called once on the target queue, with the value, or with the reason why there is none.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_transparent @discardableResult public func get(
        _ commandClosure: @escaping @Sendable (Result<Value, QueueSafeValueError>) -> Void
    ) -> CommandHandle<Void> {
        submit { turn in
            guard case .success(let storage) = turn else { return .refused(turn, commandClosure) }
            unsafe commandClosure(.success(CommandQueue(of: storage).value.pointee))
            return CommandEnding(isChange: false)
        }
    }

    /// Reads the value in a closure, and keeps the turn until `done` is called.
    ///
    /// Any thread may call `done`. Until then no thread waits, and the target queue is free for other work. If the last
    /// copy of `done` is released without a call, the command ends with ``QueueSafeValueError/completionDropped``.
    ///
    /// - Parameters:
    ///   - commandClosure: Called once on the target queue, with `done`, and with the value or the reason why there is
    ///     none.
    ///   - completion: Called once on the target queue after the command, with the value or the reason why the command
    ///     failed.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_transparent @discardableResult public func get(
        _ commandClosure:
            @escaping @Sendable (
                Result<Value, QueueSafeValueError>, @escaping CommandCompletionClosure
            ) -> Void,
        completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        submitManually(
            isChange: false,
            orFail: { result in
                commandClosure(result, {})
                completion?(result)
            },
            completion
        ) { value, done in commandClosure(.success(value), done) }
    }

    /// Replaces the value.
    ///
    /// - Parameters:
    ///   - newValue: The value to set.
    ///   - completion: Called once on the target queue after the command, with the new value or the reason why it was
    ///     not set.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_transparent @discardableResult public func set(
        newValue: Value,
        completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        // After the exchange, this is the old value, which is released with the command, without the turn. `tell` is made
        // before the exchange, so it has the new value.
        var newThenOld = newValue
        return submit { turn in
            guard case .success(let storage) = turn else { return .refused(turn, completion) }
            let tell = Notification(completion, .success(newThenOld))
            unsafe swap(&CommandQueue(of: storage).value.pointee, &newThenOld)  // fault: async: old ends with turn
            return CommandEnding(isChange: true, tell: tell)
        }
    }

    /// Changes the value in place, in a closure that has the value to itself.
    ///
    /// An object that the closure removes from the value is released during the turn. If its `deinit` uses the value,
    /// return the object from `update`.
    ///
    /// - Parameters:
    ///   - accessClosure: Called at most once on the target queue, with the value. If it throws, its changes stay, and the
    ///     completion and ``CommandHandle/value`` get the error.
    ///   - completion: Called once on the target queue after the command, with the updated value or the reason why the
    ///     command failed. The handle does not get the updated value.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_transparent @discardableResult public func set(
        _ accessClosure: @escaping @Sendable (inout Value) throws -> Void,
        completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        guard let completion else {
            return submit { turn in
                guard case .success(let storage) = turn else { return CommandEnding(isChange: false) }
                let result = CommandQueue<Value>(of: storage).run(accessClosure)
                return CommandEnding(isChange: true, failure: result.failure)
            }
        }
        return submit { turn in
            guard case .success(let storage) = turn else { return .refused(turn, completion) }
            let result = CommandQueue<Value>(of: storage).run { try changed(&$0, by: accessClosure) }
            return CommandEnding(isChange: true, failure: result.failure, tell: Notification(completion, result))
        }
    }

    /// Changes the value in place and computes an answer, in a closure that has the value to itself.
    ///
    /// - Parameters:
    ///   - accessClosure: Called at most once on the target queue, with the value. If it throws, its changes stay.
    ///   - completion: Called once on the target queue after the command, with the answer or the reason why the command
    ///     failed.
    /// - Returns: A handle, to cancel the command or to await its answer.
    @inlinable @_transparent @discardableResult public func update<Answer: Sendable>(
        _ accessClosure: @escaping @Sendable (inout Value) throws -> Answer,
        completion: (@Sendable (Result<Answer, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Answer> {
        submit { turn in
            guard case .success(let storage) = turn else { return .refused(turn, completion) }
            let result = CommandQueue<Value>(of: storage).run(accessClosure)
            let tell = Notification(completion, result)
            return CommandEnding(isChange: true, answer: CommandAnswer(result), tell: tell)
        }
    }

    /// Changes the value in place, and keeps the turn until `done` is called.
    ///
    /// Any thread may call `done`, even before the closure returns: the command ends when both have happened. Until then
    /// no thread waits, and the target queue is free for other work. If the last copy of `done` is released without a
    /// call, the command ends with ``QueueSafeValueError/completionDropped``.
    ///
    /// - Parameters:
    ///   - accessClosure: Called at most once on the target queue, with the value and `done`. If it throws, the command
    ///     ends, and its changes stay.
    ///   - completion: Called once on the target queue after the command, with the updated value or the reason why the
    ///     command failed.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_transparent @discardableResult public func set(
        _ accessClosure: @escaping @Sendable (inout Value, @escaping CommandCompletionClosure) throws -> Void,
        completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        submitManually(isChange: true, orFail: completion, completion, accessClosure)
    }

    // This function and its callers are transparent. Otherwise the compiler counts references, and threads that submit
    // compete for the counts. For the same reason it copies the members, so that the closure does not capture `self`.

    /// Submits a command, as one closure and one object.
    ///
    /// Unless `Answer` is `Void`, `run` puts an answer into the ending.
    @inlinable @_transparent func submit<Answer>(
        _ run: __owned @escaping (Result<AnyObject, QueueSafeValueError>) -> CommandEnding
    ) -> CommandHandle<Answer> {
        unsafe schedulingPoint("async to", schedule.queue.storage, schedule.queue.word.storage, waits: false)
        let (priority, target) = (priority, schedule.target)
        return CommandHandle(schedule.queue.withTurns { $0.submit(priority, in: target, run) })
    }

    /// Submits a command that has the turn until it is completed.
    @inlinable @_transparent func submitManually(
        isChange: Bool,
        orFail refuse: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?,
        _ completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?,
        _ body: @escaping @Sendable (inout Value, @escaping CommandCompletionClosure) throws -> Void
    ) -> CommandHandle<Void> {
        submit { turn in
            guard case .success(let storage) = turn else { return .refused(turn, refuse) }
            // Without a completion there is no copy, which would make the next change copy the value.
            var end: ManualCompletion?
            let result = CommandQueue<Value>(of: storage).hold(&end) { value, done in
                try body(&value, done)
                return completion == nil ? nil : value
            }
            guard let end else { return .completed(result, isChange: isChange, completion) }
            // The completion is released where it is called, and not on the thread that completes the command.
            var told = completion
            return CommandEnding(isChange: false) { complete in
                end.closureReturned { failure in
                    let tell = told.map { _ in { result in told.take()!(result) } }
                    complete(.completed(failure.map(Result.failure) ?? result, isChange: isChange, tell))
                }
            }
        }
    }

    /// Reports on the target queue that a command has no closure.
    @inlinable func fail(_ tell: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?) -> CommandHandle<Void> {
        if let tell { schedule.target.async { tell(.failure(.commandClosureDeallocated)) } }
        return CommandHandle(.failure(.commandClosureDeallocated))
    }
}

extension CommandEnding {
    /// The ending of a command that was completed with `done`.
    @inlinable static func completed<Value>(
        _ result: Result<Value?, QueueSafeValueError>,
        isChange: Bool,
        _ tell: ((Result<Value, QueueSafeValueError>) -> Void)?
    ) -> Self {
        let tell = tell.map { tell in Notification { tell(result.map { $0! }) } }
        return CommandEnding(isChange: isChange, failure: result.failure, tell: tell)
    }

    /// The ending of a command that does not run, which only tells the caller why there is no turn.
    @inlinable static func refused<Told>(
        _ turn: Result<AnyObject, QueueSafeValueError>,
        _ tell: (@Sendable (Result<Told, QueueSafeValueError>) -> Void)?
    ) -> Self {
        CommandEnding(isChange: false, tell: Notification(tell, .failure(turn.failure!)))
    }
}

extension Notification {
    /// Tells a completion the result, if there is a completion.
    @inlinable init?<Told>(
        _ tell: ((Result<Told, QueueSafeValueError>) -> Void)?,
        _ result: @autoclosure () -> Result<Told, QueueSafeValueError>
    ) {
        guard let tell else { return nil }
        let result = result()
        self.init { tell(result) }
    }
}
