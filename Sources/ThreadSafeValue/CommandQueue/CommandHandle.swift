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
/// Keep it or not: the command runs all the same. It does not keep the value alive. Of a command that is over, it keeps
/// only what `update` returned.
public struct CommandHandle<Answer: Sendable>: Sendable {
    private let accepted: Result<AcceptedCommand, QueueSafeValueError>

    /// - Parameter accepted: The command, or why it was not accepted.
    @usableFromInline
    init(_ accepted: Result<AcceptedCommand, QueueSafeValueError>) {
        self.accepted = accepted
    }
}

extension CommandHandle {
    /// Where the command is in its life now.
    public var state: CommandState {
        if case .success(let accepted) = accepted { accepted.command.state } else { .refused }
    }

    /// Takes the command out, unless it has begun.
    ///
    /// Its closure is never called then, and its completion gets ``QueueSafeValueError/cancelled`` on the target
    /// queue. What the closure captured goes away on the calling thread, before this returns. The closure of a
    /// `get` is called with the failure on the target queue instead, and goes away there.
    ///
    /// - Returns: `true` if this call cancelled the command; `false` if it had begun or was cancelled or refused
    ///   before.
    /// - Complexity: O(log number of target queues that have commands), on average.
    @discardableResult
    public func cancel() -> Bool {
        guard case .success(let accepted) = accepted else { return false }
        unsafe schedulingPoint("cancel of", accepted.lane.turns, accepted.lane.turns.word.storage, waits: false)
        return accepted.lane.turns.cancel(accepted.command, of: accepted.lane)
    }

    /// What the closure of an `update` returned, or why the command failed. Other commands return nothing.
    ///
    /// It suspends the task until the command is over. In an async closure that has the value itself, it answers
    /// ``QueueSafeValueError/reentrantCommand`` at once, and the command runs later. A circle through another value is
    /// not found.
    public var value: Result<Answer, QueueSafeValueError> {
        get async {
            switch accepted {
            case .success(let accepted): await accepted.end()
            case .failure(let failure): .failure(failure)
            }
        }
    }
}

/// A command that was accepted, and its lane.
@usableFromInline
struct AcceptedCommand: Sendable {
    let command: PendingCommand
    let lane: Lane
}

/// What the closure of a command returned, or why it failed.
@usableFromInline
final class CommandAnswer<Answer: Sendable>: Sendable {
    let result: Result<Answer, QueueSafeValueError>

    @usableFromInline
    init(_ result: Result<Answer, QueueSafeValueError>) {
        self.result = result
    }
}

extension AcceptedCommand {
    /// Waits until the command is over.
    nonisolated(nonsending) fileprivate func end<Answer: Sendable>() async -> Result<Answer, QueueSafeValueError> {
        let task = currentTaskIdentity()
        if command.state == .waiting, lane.turns.withLine({ !$0.isOver && lane.turns.turn.isHeld(by: 0, or: task) }) {
            return .failure(.reentrantCommand)
        }
        unsafe await withUnsafeContinuation { continuation in
            if lane.turns.withLine({ _ in unsafe !command.await(continuation) }) { unsafe continuation.resume() }
        }
        if command.state == .cancelled { return .failure(.cancelled) }
        if command.state == .refused { return .failure(.valueContainerDeinited) }
        guard let answer = unsafe command.answer else { return .success(() as! Answer) }
        return unsafe unsafeDowncast(answer, to: CommandAnswer<Answer>.self).result
    }
}
