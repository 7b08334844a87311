//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

/// The schedule of commands that run on a target queue; the choice of their priority is next.
public struct AsyncSchedule<Value: Sendable>: Sendable {
    @usableFromInline
    let queue: CommandQueue<Value>

    @usableFromInline
    let target: DispatchQueue

    @inlinable @_transparent
    init(queue: consuming CommandQueue<Value>, target: consuming DispatchQueue) {
        (self.queue, self.target) = (queue, target)
    }
}

extension AsyncSchedule: CommandSchedule {
    /// Commands of a given priority on the target queue.
    ///
    /// - Parameter priority: How early they get their turn.
    /// - Returns: The commands, to call one of them.
    @inlinable @_transparent
    public consuming func priority(_ priority: CommandPriority) -> AsyncCommands<Value> {
        AsyncCommands(schedule: self, priority: priority)
    }
}

/// Commands that wait in line without a thread, run on a target queue and report there.
///
/// Submitting a command returns at once and blocks nobody. Its closure and its completion run on the target queue,
/// always. A completion runs after the command: others may have the turn by then, so it may wait for the value itself.
///
/// A command that was accepted runs, also if nobody holds the value any more, unless that is suspended. If the target
/// queue does not start in time, its commands let others go first until it does: see <doc:TakingTurns>.
public struct AsyncCommands<Value: Sendable>: Sendable {
    @usableFromInline
    let schedule: AsyncSchedule<Value>

    @usableFromInline
    let priority: CommandPriority

    @inlinable @_transparent
    init(schedule: consuming AsyncSchedule<Value>, priority: CommandPriority) {
        (self.schedule, self.priority) = (schedule, priority)
    }
}

extension AsyncCommands {
    /// Reads the value in a closure, which has it to itself.
    ///
    /// - Parameter commandClosure: Called once on the target queue with the value, or with why there is none.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_transparent @discardableResult
    public func get(
        _ commandClosure: @escaping @Sendable (Result<Value, QueueSafeValueError>) -> Void
    ) -> CommandHandle<Void> {
        submit { turn in
            switch turn {
            case .success(let storage):
                unsafe commandClosure(.success(CommandQueue(of: storage).value.pointee))
                return CommandEnding(isChange: false)
            case .failure(let error): return .refused(error, commandClosure)
            }
        }
    }

    /// Reads the value in a closure and keeps it to the command until `done` is called.
    ///
    /// `done` may be called on any thread. Until then no thread waits, and the target queue is free for other work. If
    /// the last copy of `done` goes away uncalled, the command ends with ``QueueSafeValueError/completionDropped``.
    ///
    /// - Parameters:
    ///   - commandClosure: Called once on the target queue with the value, or with why there is none, and `done`.
    ///   - completion: Called once on the target queue after the command, with the value or why the command failed.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_transparent @discardableResult
    public func get(
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
    ///   - completion: Called once on the target queue after the command, with the new value or why it was not
    ///     set.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_transparent @discardableResult
    public func set(
        newValue: Value,
        completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        // After the exchange this is the old value, which goes away with the command, without the turn. Made before
        // that, `tell` has the new one.
        var newThenOld = newValue
        return submit { turn in
            switch turn {
            case .success(let storage):
                let tell = completion.map { [newThenOld] tell in Effect { tell(.success(newThenOld)) } }
                unsafe swap(&CommandQueue(of: storage).value.pointee, &newThenOld)
                return CommandEnding(isChange: true, tell: tell)
            case .failure(let error): return .refused(error, completion)
            }
        }
    }

    /// Changes the value in place, in a closure that has it to itself.
    ///
    /// What the closure takes out of the value ends with the turn. If its `deinit` uses the value, return it from
    /// `update`.
    ///
    /// - Parameters:
    ///   - accessClosure: Called at most once on the target queue, with the value. If it throws, what it changed
    ///     stays. The completion and ``CommandHandle/value`` get the error.
    ///   - completion: Called once on the target queue after the command, with the updated value or why it failed.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_transparent @discardableResult
    public func set(
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
            switch turn {
            case .success(let storage):
                let result = CommandQueue<Value>(of: storage).run { value in
                    try accessClosure(&value)
                    return value
                }
                return CommandEnding(isChange: true, failure: result.failure, tell: Effect { completion(result) })
            case .failure(let error): return .refused(error, completion)
            }
        }
    }

    /// Changes the value in place and computes an answer, in a closure that has it to itself.
    ///
    /// - Parameters:
    ///   - accessClosure: Called at most once on the target queue, with the value. If it throws, what it changed
    ///     stays.
    ///   - completion: Called once on the target queue after the command, with what the closure returned or why it
    ///     failed.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_transparent @discardableResult
    public func update<Answer: Sendable>(
        _ accessClosure: @escaping @Sendable (inout Value) throws -> Answer,
        completion: (@Sendable (Result<Answer, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Answer> {
        submit { turn in
            switch turn {
            case .success(let storage):
                let result = CommandQueue<Value>(of: storage).run(accessClosure)
                return CommandEnding(
                    isChange: true,
                    answer: CommandAnswer(result),
                    tell: completion.map { completion in Effect { completion(result) } }
                )
            case .failure(let error): return .refused(error, completion)
            }
        }
    }

    /// Changes the value in place and keeps it to the command until `done` is called.
    ///
    /// `done` may be called on any thread, also before the closure returns: the command ends when both have happened.
    /// Until then no thread waits, and the target queue is free for other work. If the last copy of `done` goes away
    /// uncalled, the command ends with ``QueueSafeValueError/completionDropped``.
    ///
    /// - Parameters:
    ///   - accessClosure: Called at most once on the target queue, with the value and `done`. If it throws, the
    ///     command ends, and what it changed stays.
    ///   - completion: Called once on the target queue after the command, with the updated value or why it failed.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_transparent @discardableResult
    public func set(
        _ accessClosure: @escaping @Sendable (inout Value, @escaping CommandCompletionClosure) throws -> Void,
        completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        submitManually(isChange: true, orFail: completion, completion, accessClosure)
    }
}

extension AsyncCommands {
    // Transparent, as its callers are: otherwise the compiler counts references, and threads that submit compete for the
    // counts. The copies are there for the same reason: with them, the closure captures no `self`.

    /// Submits a command, as one closure and one object.
    ///
    /// Unless `Answer` is `Void`, `run` puts one into the ending.
    @inlinable @_transparent
    func submit<Answer>(
        _ run: __owned @escaping (Result<AnyObject, QueueSafeValueError>) -> CommandEnding
    ) -> CommandHandle<Answer> {
        unsafe schedulingPoint("async to", schedule.queue.storage, schedule.queue.word.storage, waits: false)
        let (priority, target) = (priority, schedule.target)
        return CommandHandle(schedule.queue.withTurns { $0.submit(priority, in: target, run) })
    }

    /// Submits a command that has the turn until it is completed.
    @inlinable @_transparent
    func submitManually(
        isChange: Bool,
        orFail refuse: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?,
        _ completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?,
        _ body: @escaping @Sendable (inout Value, @escaping CommandCompletionClosure) throws -> Void
    ) -> CommandHandle<Void> {
        submit { turn in
            switch turn {
            case .success(let storage):
                // Without a completion no copy: it would make the next change copy the value too.
                var end: ManualCompletion?
                let result = CommandQueue<Value>(of: storage).hold(&end) { value, done in
                    try body(&value, done)
                    return completion == nil ? nil : value
                }
                guard let end else { return .completed(result, isChange: isChange, completion) }
                // It goes away where it is called, and not on the thread that completes the command.
                var told = completion
                return CommandEnding(isChange: false) { complete in
                    end.closureReturned { failure in
                        let tell = told.map { _ in { result in told.take()!(result) } }
                        complete(.completed(failure.map(Result.failure) ?? result, isChange: isChange, tell))
                    }
                }
            case .failure(let error): return .refused(error, refuse)
            }
        }
    }

    /// Reports on the target queue that a command has no closure.
    @inlinable
    func fail(_ tell: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?) -> CommandHandle<Void> {
        if let tell { schedule.target.async { tell(.failure(.commandClosureDeallocated)) } }
        return CommandHandle(.failure(.commandClosureDeallocated))
    }
}

extension CommandEnding {
    /// The ending of a command that was completed with `done`.
    @inlinable
    static func completed<Value>(
        _ result: Result<Value?, QueueSafeValueError>,
        isChange: Bool,
        _ tell: ((Result<Value, QueueSafeValueError>) -> Void)?
    ) -> Self {
        let effect = tell.map { tell in Effect { tell(result.map { $0! }) } }
        return CommandEnding(isChange: isChange, failure: result.failure, tell: effect)
    }

    /// What is left of a command that does not run: to tell its caller.
    @inlinable
    static func refused<Told>(
        _ error: QueueSafeValueError,
        _ tell: (@Sendable (Result<Told, QueueSafeValueError>) -> Void)?
    ) -> Self {
        CommandEnding(isChange: false, tell: tell.map { tell in Effect { tell(.failure(error)) } })
    }
}
