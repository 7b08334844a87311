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

    @inlinable
    init(queue: CommandQueue<Value>, target: DispatchQueue) {
        self.queue = queue
        self.target = target
    }
}

extension AsyncSchedule: CommandSchedule {
    /// Commands of a given priority on the target queue.
    ///
    /// - Parameter priority: how early they get their turn.
    /// - Returns: the commands, to call one of them.
    @inlinable
    public func priority(_ priority: CommandPriority) -> AsyncCommands<Value> {
        AsyncCommands(schedule: self, priority: priority)
    }
}

/// Commands that wait in line without a thread, run on a target queue and report there.
///
/// Submitting a command returns at once and blocks nobody. Its closure and its completion run on the target queue,
/// always. A completion runs after the command: others may have the turn by then, so it may wait for the value itself.
///
/// A command that was accepted runs, also if the value's container goes away before. If the target queue does not start
/// for 5 ms when the turn comes, the commands for it let others go first until it does.
public struct AsyncCommands<Value: Sendable>: Sendable {
    /// The value as a command finds it.
    public typealias CurrentValue = Value

    /// The value as a command leaves it.
    public typealias UpdatedValue = Value

    @usableFromInline
    let schedule: AsyncSchedule<Value>

    @usableFromInline
    let priority: CommandPriority

    @inlinable
    init(schedule: AsyncSchedule<Value>, priority: CommandPriority) {
        self.schedule = schedule
        self.priority = priority
    }
}

extension AsyncCommands {
    /// Reads the value in a closure, which has it to itself.
    ///
    /// - Parameter commandClosure: called once on the target queue with the value, or with why there is none.
    /// - Returns: a handle, to cancel the command.
    @inlinable
    @discardableResult
    public func get(completion commandClosure: (@Sendable (Result<CurrentValue, QueueSafeValueError>) -> Void)?)
        -> AsyncCommand
    {
        guard let commandClosure else { return AsyncCommand(nil) }
        return unsafe submit(endsRun: false, orFail: commandClosure) { address in
            guard let address = unsafe address else { return .cancelled(commandClosure) }
            unsafe commandClosure(.success(address.assumingMemoryBound(to: Value.self).pointee))
            return .read
        }
    }

    /// Reads the value in a closure and keeps it to the command until `done` is called.
    ///
    /// `done` may be called on any thread. Until then no thread waits, and the target queue is free for other work. If the
    /// last copy of `done` goes away uncalled, the command ends with ``QueueSafeValueError/completionDropped``.
    ///
    /// - Parameters:
    ///   - commandClosure: called once on the target queue with the value, or with why there is none, and `done`.
    ///   - completion: called once on the target queue after the command, with the value or why the command failed.
    /// - Returns: a handle, to cancel the command.
    @inlinable
    @discardableResult
    public func get(
        manualCompletion commandClosure: (
            @Sendable (Result<CurrentValue, QueueSafeValueError>, @escaping CommandCompletionClosure) -> Void
        )?,
        completion: (@Sendable (Result<CurrentValue, QueueSafeValueError>) -> Void)? = nil
    ) -> AsyncCommand {
        guard let commandClosure else { return fail(.commandClosureDeallocated, completion) }
        return submitManually(
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
    ///   - newValue: the value to set.
    ///   - commandClosure: called once on the target queue after the command, with the new value or why it was not set.
    /// - Returns: a handle, to cancel the command.
    @inlinable
    @discardableResult
    public func set(
        newValue: Value,
        completion commandClosure: (@Sendable (Result<UpdatedValue, QueueSafeValueError>) -> Void)? = nil
    ) -> AsyncCommand {
        // Holds the old value after the exchange, until the command goes away: without the turn.
        var exchanged = newValue
        return unsafe submit(endsRun: commandClosure != nil, orFail: commandClosure) { address in
            guard let address = unsafe address else { return .cancelled(commandClosure) }
            unsafe swap(&address.assumingMemoryBound(to: Value.self).pointee, &exchanged)
            guard let commandClosure else { return .changed }
            return .changedThen { commandClosure(.success(newValue)) }
        }
    }

    /// Changes the value in place, in a closure that has it to itself.
    ///
    /// - Parameters:
    ///   - accessClosure: called at most once on the target queue, with the value. If it throws, what it changed stays;
    ///     without a completion, nobody learns of the error.
    ///   - commandClosure: called once on the target queue after the command, with the updated value or why it failed.
    /// - Returns: a handle, to cancel the command.
    @inlinable
    @discardableResult
    public func set(
        accessClosure: (@Sendable (inout CurrentValue) throws -> Void)?,
        completion commandClosure: (@Sendable (Result<UpdatedValue, QueueSafeValueError>) -> Void)? = nil
    ) -> AsyncCommand {
        guard let accessClosure else { return fail(.commandClosureDeallocated, commandClosure) }
        guard let commandClosure else {
            return unsafe submit(endsRun: false, orFail: nil) { address in
                guard let address = unsafe address else { return .read }
                try? unsafe accessClosure(&address.assumingMemoryBound(to: Value.self).pointee)
                return .changed
            }
        }
        return unsafe submit(endsRun: true, orFail: commandClosure) { address in
            guard let address = unsafe address else { return .cancelled(commandClosure) }
            let value = unsafe address.assumingMemoryBound(to: Value.self)
            let result: Result<UpdatedValue, QueueSafeValueError>
            do {
                try unsafe accessClosure(&value.pointee)
                result = unsafe .success(value.pointee)
            } catch {
                result = .failure(.unexpected(error: error))
            }
            return .changedThen { commandClosure(result) }
        }
    }

    /// Changes the value in place and keeps it to the command until `done` is called.
    ///
    /// `done` may be called on any thread, also before the closure returns: the command ends when both have happened. Until
    /// then no thread waits, and the target queue is free for other work. If the last copy of `done` goes away uncalled,
    /// the command ends with ``QueueSafeValueError/completionDropped``.
    ///
    /// - Parameters:
    ///   - accessClosure: called at most once on the target queue, with the value and `done`. If it throws, the command
    ///     ends, and what it changed stays.
    ///   - commandClosure: called once on the target queue after the command, with the updated value or why it failed.
    /// - Returns: a handle, to cancel the command.
    @inlinable
    @discardableResult
    public func set(
        manualCompletion accessClosure: (
            @Sendable (inout CurrentValue, @escaping CommandCompletionClosure) throws -> Void
        )?,
        completion commandClosure: (@Sendable (Result<UpdatedValue, QueueSafeValueError>) -> Void)? = nil
    ) -> AsyncCommand {
        guard let accessClosure else { return fail(.commandClosureDeallocated, commandClosure) }
        return submitManually(isChange: true, orFail: commandClosure, commandClosure, accessClosure)
    }
}

extension AsyncCommands {
    /// Submits a command that may use the value while `work` runs.
    ///
    /// The work gets the value's address, so that it is one closure from here to the queue, and one allocation.
    @inlinable
    func submit(
        endsRun: Bool,
        orFail tell: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?,
        _ work: @escaping PendingCommand.Work
    ) -> AsyncCommand {
        let queue = schedule.queue
        switch unsafe queue.submit(priority, in: schedule.target, endsRun: endsRun, work: work) {
        case .success(let command): return AsyncCommand(queue.handle(for: command))
        case .failure(let error): return fail(error, tell)
        }
    }

    /// Submits a command that has the turn until it is completed.
    @inlinable
    func submitManually(
        isChange: Bool,
        orFail tell: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?,
        _ completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?,
        _ body: @escaping @Sendable (inout Value, @escaping CommandCompletionClosure) throws -> Void
    ) -> AsyncCommand {
        let queue = schedule.queue
        let target = schedule.target
        return unsafe submit(endsRun: true, orFail: tell) { address in
            if unsafe address == nil { return .cancelled(tell) }
            let finish: (Result<Value, QueueSafeValueError>) -> Void = { result in
                if let completion { target.async { completion(result) } }
            }
            if let result = queue.keepTurn(isChange: isChange, during: body, makeFinish: { finish }) { finish(result) }
            return .kept
        }
    }

    /// Reports on the target queue that a command was not accepted.
    @inlinable
    func fail(
        _ error: QueueSafeValueError,
        _ tell: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?
    ) -> AsyncCommand {
        if let tell { schedule.target.async { tell(.failure(error)) } }
        return AsyncCommand(nil)
    }
}

extension PendingCommand.Ending {
    /// What is left of a cancelled command: to tell its caller.
    @inlinable
    static func cancelled<Value>(_ tell: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?) -> Self {
        guard let tell else { return .read }
        return .readThen { tell(.failure(.cancelled)) }
    }
}

extension CommandQueue {
    /// What a handle keeps of a command.
    @usableFromInline
    func handle(for command: PendingCommand) -> AsyncCommand.Accepted {
        AsyncCommand.Accepted(command: command, line: storage.line)
    }
}
