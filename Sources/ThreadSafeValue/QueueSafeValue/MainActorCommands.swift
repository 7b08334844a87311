//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

extension QueueSafeValue where Value: Sendable {
    /// Commands whose closures run on the main actor; submitting one returns at once.
    ///
    /// ```swift
    /// progress.asyncOnMainActor.highestPriority.get { result in label.show(result) }
    /// ```
    ///
    /// They run on the main queue, as those of `async(performIn: .main)`, and may use what belongs to the main actor.
    public var asyncOnMainActor: MainActorSchedule<Value> {
        MainActorSchedule(schedule: async(performIn: .main))
    }
}

/// The schedule of commands that run on the main actor; the choice of their priority is next.
public struct MainActorSchedule<Value: Sendable>: Sendable {
    let schedule: AsyncSchedule<Value>
}

extension MainActorSchedule: CommandSchedule {
    /// Commands of a given priority on the main actor.
    ///
    /// - Parameter priority: How early they get their turn.
    /// - Returns: The commands, to call one of them.
    public func priority(_ priority: CommandPriority) -> MainActorCommands<Value> {
        MainActorCommands(commands: schedule.priority(priority))
    }
}

/// Commands that wait in line without a thread, run on the main actor and report there: as ``AsyncCommands`` do on
/// their queue.
public struct MainActorCommands<Value: Sendable>: Sendable {
    /// The value as a command finds it.
    public typealias CurrentValue = Value

    /// The value as a command leaves it.
    public typealias UpdatedValue = Value

    let commands: AsyncCommands<Value>
}

extension MainActorCommands {
    /// Reads the value in a closure, which has it to itself.
    ///
    /// - Parameter commandClosure: Called once on the main actor with the value, or with why there is none.
    /// - Returns: A handle, to cancel the command or to await its end.
    @discardableResult
    public func get(
        _ commandClosure: @escaping @MainActor (Result<CurrentValue, QueueSafeValueError>) -> Void
    ) -> CommandHandle<Void> {
        commands.get(onMainQueue(commandClosure))
    }

    /// Reads the value in a closure and keeps it to the command until `done` is called, on any thread.
    ///
    /// - Parameters:
    ///   - commandClosure: Called once on the main actor with the value, or with why there is none, and `done`.
    ///   - completion: Called once on the main actor after the command, with the value or why the command failed.
    /// - Returns: A handle, to cancel the command or to await its end.
    @discardableResult
    public func get(
        _ commandClosure:
            @escaping @MainActor (
                Result<CurrentValue, QueueSafeValueError>, @escaping CommandCompletionClosure
            ) -> Void,
        completion: (@MainActor (Result<CurrentValue, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        commands.get(
            { result, done in MainActor.assumeIsolated { commandClosure(result, done) } },
            completion: completion.map(onMainQueue)
        )
    }

    /// Replaces the value.
    ///
    /// - Parameters:
    ///   - newValue: The value to set.
    ///   - commandClosure: Called once on the main actor after the command, with the new value or why it was not set.
    /// - Returns: A handle, to cancel the command or to await its end.
    @discardableResult
    public func set(
        newValue: Value,
        completion commandClosure: (@MainActor (Result<UpdatedValue, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        commands.set(newValue: newValue, completion: commandClosure.map(onMainQueue))
    }

    /// Changes the value in place, in a closure that has it to itself.
    ///
    /// - Parameters:
    ///   - accessClosure: Called at most once on the main actor, with the value. If it throws, what it changed stays.
    ///   - commandClosure: Called once on the main actor after the command, with the updated value or why it failed.
    /// - Returns: A handle, to cancel the command or to await its end.
    @discardableResult
    public func set(
        _ accessClosure: @escaping @MainActor (inout CurrentValue) throws -> Void,
        completion commandClosure: (@MainActor (Result<UpdatedValue, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        commands.set(
            { value in try MainActor.assumeIsolated { try accessClosure(&value) } },
            completion: commandClosure.map(onMainQueue)
        )
    }

    /// Changes the value in place and keeps it to the command until `done` is called, on any thread.
    ///
    /// - Parameters:
    ///   - accessClosure: Called at most once on the main actor, with the value and `done`. If it throws, the command
    ///     ends, and what it changed stays.
    ///   - commandClosure: Called once on the main actor after the command, with the updated value or why it failed.
    /// - Returns: A handle, to cancel the command or to await its end.
    @discardableResult
    public func set(
        _ accessClosure: @escaping @MainActor (inout CurrentValue, @escaping CommandCompletionClosure) throws -> Void,
        completion commandClosure: (@MainActor (Result<UpdatedValue, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        commands.set(
            { value, done in try MainActor.assumeIsolated { try accessClosure(&value, done) } },
            completion: commandClosure.map(onMainQueue)
        )
    }

    /// Changes the value in place and computes an answer, in a closure that has it to itself.
    ///
    /// - Parameters:
    ///   - accessClosure: Called at most once on the main actor, with the value. If it throws, what it changed stays.
    ///   - completion: Called once on the main actor after the command, with what the closure returned or why it
    ///     failed.
    /// - Returns: A handle, to cancel the command or to await its end.
    @discardableResult
    public func update<Answer: Sendable>(
        _ accessClosure: @escaping @MainActor (inout CurrentValue) throws -> Answer,
        completion: (@MainActor (Result<Answer, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Answer> {
        commands.update(
            { value in try MainActor.assumeIsolated { try accessClosure(&value) } },
            completion: completion.map(onMainQueue)
        )
    }
}

/// A closure of the main actor as one that is called on the main queue only, which is its executor.
private func onMainQueue<Argument: Sendable>(
    _ closure: @escaping @MainActor (Argument) -> Void
) -> @Sendable (Argument) -> Void {
    { argument in MainActor.assumeIsolated { closure(argument) } }
}
