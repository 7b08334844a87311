//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A command that was submitted, whose answer a task may await later.
///
/// ```swift
/// let first = log.async.lowestPriority.submit { $0.append("first") }
/// let second = log.async.lowestPriority.submit { $0.append("second") }     // behind the first, whoever is faster
/// print(await first.value, await second.value)
/// ```
///
/// Keep it or not: the command runs all the same. It does not keep the value alive.
public struct SubmittedCommand<Answer: Sendable>: Sendable {
    let submission: Submission
    let ending: CommandEnding<Answer>
}

extension SubmittedCommand {
    /// What the closure of the command returned, or why the command failed; waits until it is over.
    ///
    /// A cancelled task waits too: it is ``cancel()`` that takes the command back. Inside an async closure that has the turn
    /// that the command waits for, the answer is ``QueueSafeValueError/reentrantCommand``, and the command never runs.
    public var value: Result<Answer, QueueSafeValueError> {
        get async {
            // Only a task that is part of a body can be in a circle. It keeps the queue as long as it is in the graph.
            guard let body = TaskBody.current, let queue = submission.queue else { return await ending.wait {} }
            nonisolated(unsafe) let resource = queue.resource
            if unsafe WaitGraph.shared.begin(for: resource, thread: 0, body: body) == nil {
                defer { withExtendedLifetime(queue) {} }
                return await ending.wait { unsafe WaitGraph.shared.end(for: resource, thread: 0, body: body) }
            }
            let isInside = unsafe body.isPart(of: resource.holder)
            let failure = isInside ? QueueSafeValueError.reentrantCommand : .circularWait
            failure.reported(for: queue.valueType, "a submitted command that is awaited")
            // One that has begun goes on, and waits for this task.
            if submission.end(failure).isEnded || ending.isRecorded { return await ending.wait {} }
            return .failure(failure)
        }
    }

    /// Takes the command out, unless it has started.
    ///
    /// Its closure is never called then, and its ``value`` is ``QueueSafeValueError/cancelled``.
    ///
    /// - Returns: `true` if this call cancelled the command; `false` if it had started or was over before.
    @discardableResult
    public func cancel() -> Bool {
        submission.end(.cancelled).isEnded
    }
}

/// The answer of a submitted command, and the tasks that await it.
struct CommandEnding<Answer: Sendable>: Sendable {
    private struct State: Sendable {
        var result: Result<Answer, QueueSafeValueError>?
        var isOver = false
        var waiting: [(CheckedContinuation<Result<Answer, QueueSafeValueError>, Never>, @Sendable () -> Void)] = []
    }

    private let state = Protected(State())
}

extension CommandEnding {
    /// Whether the command has done its work.
    var isRecorded: Bool { state.read { $0.result != nil } }

    /// The command has done its work; it may still have the turn.
    func record(_ result: Result<Answer, QueueSafeValueError>) {
        state.write { $0.result = result }
    }

    /// The command is over and the turn is free: tasks go on.
    func tell() {
        let (result, waiting) = state.write { state in
            state.isOver = true
            return (state.result!, state.waiting.drain())
        }
        for (continuation, stop) in waiting {
            stop()
            continuation.resume(returning: result)
        }
    }

    /// Waits until the command is over.
    ///
    /// - Parameter stop: called then, and not when the task goes on, which may be much later.
    /// - Returns: the result of the command.
    func wait(_ stop: @escaping @Sendable () -> Void) async -> Result<Answer, QueueSafeValueError> {
        await withCheckedContinuation { continuation in
            let result = state.write { state in
                if state.isOver { return state.result }
                state.waiting.append((continuation, stop))
                return nil
            }
            guard let result else { return }
            stop()
            continuation.resume(returning: result)
        }
    }
}
