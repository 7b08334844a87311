//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

/// A handle for a command that was submitted to a target queue: to cancel it, to make it more urgent, or to wait for its
/// end.
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

    private var refusal: Result<Answer, QueueSafeValueError> {
        if case .failure(let failure) = accepted { .failure(failure) } else { .failure(.commandQueueFull) }
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
        return accepted.lane.turns.cancel(accepted.command, of: accepted.lane)
    }

    /// What the closure of an `update` returned, or why the command failed. Other commands return nothing.
    ///
    /// It suspends the task until the command is over. In an async closure that has the value itself, it answers
    /// ``QueueSafeValueError/reentrantCommand`` at once, and the command runs later. A circle through another value is
    /// not found.
    public var value: Result<Answer, QueueSafeValueError> {
        get async {
            guard case .success(let accepted) = accepted else { return refusal }
            if accepted.waitsForCaller { return .failure(.reentrantCommand) }
            unsafe await withUnsafeContinuation { continuation in
                if !accepted.notifyAtEnd({ unsafe continuation.resume() }) { unsafe continuation.resume() }
            }
            return accepted.result()
        }
    }

    /// Waits on the calling thread until the command is over, as at the end of a program.
    ///
    /// A thread that runs a block of the target queue waits for itself, if that queue is serial. A command of the same
    /// value answers ``QueueSafeValueError/reentrantCommand`` at once.
    ///
    /// - Parameter timeout: For how long to wait. `.never` is for ever.
    /// - Returns: What the closure of an `update` returned, or why the command failed.
    ///   ``QueueSafeValueError/timedOut`` says that the command is not over yet: it runs all the same.
    @available(*, noasync, message: "use await handle.value")
    public func wait(timeout: DispatchTimeInterval = .never) -> Result<Answer, QueueSafeValueError> {
        guard case .success(let accepted) = accepted else { return refusal }
        if accepted.waitsForCaller { return .failure(.reentrantCommand) }
        let (parker, deadline) = (Parker(), Deadline(after: timeout))
        if accepted.notifyAtEnd({ parker.wake() }), !parker.park(until: deadline.time) { return .failure(.timedOut) }
        return accepted.result()
    }

    /// Changes how early the command gets its turn, while it waits.
    ///
    /// The command keeps its arrival: it goes before commands of its new priority that came later.
    ///
    /// - Parameter priority: The new priority.
    /// - Returns: `true` if the command waits with the new priority; `false` if it had begun or was cancelled or refused
    ///   before.
    /// - Complexity: O(n log n) in the number of commands that wait for the target queue.
    @discardableResult
    public func changePriority(to priority: CommandPriority) -> Bool {
        guard case .success(let accepted) = accepted else { return false }
        return accepted.lane.turns.update { $0.changePriority(of: accepted.command, in: accepted.lane, to: priority) }
    }
}
