//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A handle for a command that was submitted to a target queue: to cancel it, to see where it is, or to await its end.
///
/// ```swift
/// let handle = counter.async(performIn: .main).lowestPriority.update { counter in
///     counter += 1
///     return counter
/// }
/// print(await handle.value)
/// ```
///
/// Keep it or not: the command runs all the same. It does not keep the value alive, and of a command that is over it
/// keeps what `update` returned, and nothing else.
public struct CommandHandle<Answer: Sendable>: Sendable {
    /// Where a command is in its life.
    public enum State: Sendable {
        /// The command was accepted and waits for its turn.
        case waiting
        /// The command has its turn: its closure is about to be called, or runs, or `done` is still to be called.
        case running
        /// The command is over.
        case finished
        /// The command was cancelled before its turn came.
        case cancelled
        /// The command was not accepted, or its suspended value went away.
        case refused
    }

    private let accepted: Result<AcceptedCommand, QueueSafeValueError>

    /// - Parameter accepted: The command, or why it was not accepted.
    @usableFromInline
    init(_ accepted: Result<AcceptedCommand, QueueSafeValueError>) {
        self.accepted = accepted
    }
}

extension CommandHandle {
    /// Where the command is in its life now.
    public var state: State {
        guard case .success(let accepted) = accepted else { return .refused }
        return switch accepted.command.state {
        case .waiting: .waiting
        case .running: .running
        case .finished: .finished
        case .cancelled: .cancelled
        case .refused: .refused
        }
    }

    /// Takes the command out, unless it has begun.
    ///
    /// Its closure is never called then, and its completion gets ``QueueSafeValueError/cancelled`` on the target
    /// queue. What the closure captured goes away on the calling thread, before this returns. That of a `get` is called
    /// with the failure on the target queue instead, and goes away then.
    ///
    /// - Returns: `true` if this call cancelled the command; `false` if it had begun or was cancelled or refused
    ///   before.
    /// - Complexity: O(log number of target queues that have commands), on average.
    @discardableResult
    public func cancel() -> Bool {
        guard case .success(let accepted) = accepted else { return false }
        return accepted.lane.turns.cancel(accepted.command, of: accepted.lane)
    }

    /// What the closure of an `update` returned, or of another command nothing; or why the command failed.
    ///
    /// It suspends the task until the command is over. In an async closure that has the value itself, it answers
    /// ``QueueSafeValueError/reentrantCommand`` at once, and the command runs later.
    public var value: Result<Answer, QueueSafeValueError> {
        get async {
            switch accepted {
            case .success(let accepted): await accepted.end()
            case .failure(let failure): .failure(failure)
            }
        }
    }
}

/// What the closure of a command returned.
@usableFromInline
final class CommandAnswer<Answer: Sendable>: Sendable {
    let answer: Answer

    @usableFromInline
    init(_ answer: Answer) {
        self.answer = answer
    }
}

/// A command that was accepted, and its lane.
@usableFromInline
struct AcceptedCommand: Sendable {
    let command: PendingCommand
    let lane: Lane
}

extension AcceptedCommand {
    /// Waits until the command is over.
    nonisolated(nonsending) fileprivate func end<Answer: Sendable>() async -> Result<Answer, QueueSafeValueError> {
        if isOfHolder(currentTaskIdentity()) { return .failure(.reentrantCommand) }
        unsafe await withUnsafeContinuation { continuation in
            if lane.turns.withLine({ _ in unsafe !command.await(continuation) }) { unsafe continuation.resume() }
        }
        return switch command.state {
        case .cancelled: .failure(.cancelled)
        case .refused: .failure(.valueContainerDeinited)
        case .waiting, .running, .finished: result()
        }
    }

    /// Whether a task has the turn that the command waits for.
    private func isOfHolder(_ task: UInt64) -> Bool {
        command.state == .waiting && lane.turns.withLine { $0.isOver ? false : lane.turns.turn.isHeld(by: 0, or: task) }
    }

    private func result<Answer: Sendable>() -> Result<Answer, QueueSafeValueError> {
        if let failure = command.failure { return .failure(failure) }
        guard let answer = command.answer else { return .success(() as! Answer) }
        return .success(unsafe unsafeDowncast(answer, to: CommandAnswer<Answer>.self).answer)
    }
}
