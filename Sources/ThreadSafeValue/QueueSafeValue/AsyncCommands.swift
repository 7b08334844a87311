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
        _ commandClosure: __owned @escaping @Sendable (Result<Value, QueueSafeValueError>) -> Void
    ) -> CommandHandle<Void> {
        submit(GetClosure(consume commandClosure)) { command, queue in
            unsafe command.call(.success(queue.value.pointee))
            return CommandEnding(isChange: false)
        }
    }

    /// Reads the value in a closure, and keeps the turn until `done` is called.
    ///
    /// Any thread may call `done`. Until then no thread waits, and the target queue is free for other work. If the last
    /// copy of `done` is released without a call, the command ends with ``QueueSafeValueError/completionDropped``. So the
    /// completion must not keep a copy.
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
        completion: __owned (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        let refuse = { (result: Result<Value, QueueSafeValueError>) in
            commandClosure(result, {})
            completion?(result)
        }
        let closure = ManualClosure { value, done in commandClosure(.success(value), done) }
        return submit(ToldCommand(closure, refuse)) { command, queue in
            // What the closure captured may keep `done`: only the body has the closure from here on.
            command.completion = completion
            return command.hold(in: queue, isChange: false)
        }
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
        completion: __owned (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        submit(ToldCommand(newValue, completion)) { command, queue in
            // The old value is released with the command, without the turn.
            unsafe swap(&queue.value.pointee, &command.body!)  // fault: async: old ends with turn
            return command.ending(of: .success(()), in: queue)
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
        _ accessClosure: __owned @escaping @Sendable (inout Value) throws -> Void,
        completion: __owned (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        if completion == nil {
            return submit(ChangeClosure(consume accessClosure)) { command, queue in
                CommandEnding(isChange: true, failure: queue.run(command.call).failure)
            }
        }
        return submit(ToldCommand(ChangeClosure(consume accessClosure), consume completion)) { command, queue in
            command.ending(of: queue.run(command.body!.call), in: queue)
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
        _ accessClosure: __owned @escaping @Sendable (inout Value) throws -> Answer,
        completion: __owned (@Sendable (Result<Answer, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Answer> {
        submit(ToldCommand(AnswerClosure(consume accessClosure), consume completion)) { command, queue in
            let result = queue.run(command.body!.call)
            var ending = CommandEnding(isChange: true, tells: command.completion != nil)
            (command.result, ending.answer) = (result, CommandAnswer(result))
            return ending
        }
    }

    /// Changes the value in place, and keeps the turn until `done` is called.
    ///
    /// Any thread may call `done`, even before the closure returns: the command ends when both have happened. Until then
    /// no thread waits, and the target queue is free for other work. If the last copy of `done` is released without a
    /// call, the command ends with ``QueueSafeValueError/completionDropped``. So the completion must not keep a copy.
    ///
    /// - Parameters:
    ///   - accessClosure: Called at most once on the target queue, with the value and `done`. If it throws, the command
    ///     ends, and its changes stay.
    ///   - completion: Called once on the target queue after the command, with the updated value or the reason why the
    ///     command failed.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_transparent @discardableResult public func set(
        _ accessClosure: __owned @escaping @Sendable (inout Value, @escaping CommandCompletionClosure) throws -> Void,
        completion: __owned (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        submit(ToldCommand(ManualClosure(consume accessClosure), consume completion)) { command, queue in
            command.hold(in: queue, isChange: true)
        }
    }

    // This function and its callers are transparent. Otherwise the compiler counts references, and threads that submit
    // compete for the counts.

    /// Submits a command.
    ///
    /// Unless `Answer` is `Void`, `run` puts an answer into the ending. If it captures nothing, the command is one object.
    @inlinable @_transparent func submit<Command: SubmittedCommand, Answer>(
        _ command: consuming Command,
        _ run: @escaping (inout Command, CommandQueue<Value>) -> CommandEnding
    ) -> CommandHandle<Answer> {
        unsafe schedulingPoint("async to", schedule.queue.storage, schedule.queue.word.storage, waits: false)
        let (pending, target) = (PendingCommand.make(priority, command, run), schedule.target)
        return CommandHandle(schedule.queue.withTurns { $0.submit(pending, in: target) })
    }

    /// Reports on the target queue that a command has no closure.
    @inlinable func fail(_ tell: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?) -> CommandHandle<Void> {
        if let tell { schedule.target.async { tell(.failure(.commandClosureDeallocated)) } }
        return CommandHandle(.failure(.commandClosureDeallocated))
    }
}
