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
    let reference: QueueReference

    /// Whether it has no time-out.
    let isEndless: Bool
}

extension SubmittedCommand {
    /// What the closure of the command returned, or why the command failed; waits until it is over.
    ///
    /// A cancelled task submits and waits too: it is ``cancel()`` that takes the command back. Inside an async closure
    /// that has the turn that the command waits for, the answer is ``QueueSafeValueError/reentrantCommand``, and the
    /// command never runs. It may be ``QueueSafeValueError/circularWait`` for one that has begun, if it waits for the
    /// async closure that awaits it: then it runs to its end all the same. Awaited inside an async closure of another
    /// value, a command without a time-out keeps its value.
    public var value: Result<Answer, QueueSafeValueError> {
        get async {
            // Only a task that is part of a body can be in a circle.
            guard let body = TaskBody.current else { return await ending.wait() }
            // A wait that ends is in no circle for ever, and none does that has begun.
            if !isEndless, !isInside(body) { await ending.waitForStart() }
            // It keeps the queue as long as it is in the graph.
            guard let queue = reference.queue else { return await ending.wait() }
            defer { withExtendedLifetime(queue) {} }
            let resource = queue.turns.resource
            let result = await ending.wait {
                WaitGraph.shared.begin(for: resource, thread: 0, body: body) == nil
            } end: {
                WaitGraph.shared.end(for: resource, thread: 0, body: body)
            }
            if let result { return result }
            let failure = isInside(body) ? QueueSafeValueError.reentrantCommand : .circularWait
            // One that has begun goes on, and waits for this task; one that has left in another way has its own answer.
            let isEnded = submission.end(failure, atOnce: false)
            if !isEnded, ending.isRecorded || submission.hasLeft { return await ending.wait() }
            return .failure(failure.reported(for: queue.valueType, "a submitted command that is awaited"))
        }
    }

    /// Whether a body has the turn that the command waits for.
    private func isInside(_ body: TaskBody) -> Bool {
        reference.withTurns { body.isPart(of: $0.turn.holder) } ?? false
    }

    /// Takes the command out, unless it has started.
    ///
    /// Its closure is never called then, and its ``value`` is ``QueueSafeValueError/cancelled``.
    ///
    /// - Returns: `true` if this call cancelled the command; `false` if it had started or was over before.
    @discardableResult
    public func cancel() -> Bool {
        submission.end(.cancelled, atOnce: false)
    }
}

/// The answer of a submitted command, and the tasks that await it.
struct CommandEnding<Answer: Sendable>: Sendable {
    private typealias Continuation = CheckedContinuation<Result<Answer, QueueSafeValueError>?, Never>

    private struct State: Sendable {
        var result: Result<Answer, QueueSafeValueError>?
        var hasStarted = false
        var isOver = false
        var waitingForStart: [CheckedContinuation<Void, Never>] = []
        var waiting: [(continuation: Continuation, end: @Sendable () -> Void)] = []
    }

    private let state = Protected(State())
}

extension CommandEnding {
    /// Whether the command has done its work.
    var isRecorded: Bool { state.read { $0.result != nil } }

    /// The command has the turn.
    ///
    /// Those who wait for that go on, but not on the calling thread, which has it.
    func start() {
        drainWaitingForStart().resumeOnGlobalQueue()
    }

    private func drainWaitingForStart() -> [CheckedContinuation<Void, Never>] {
        state.write { state in
            state.hasStarted = true
            return state.waitingForStart.drain()
        }
    }

    /// The command has done its work; it may still have the turn.
    func record(_ result: Result<Answer, QueueSafeValueError>) {
        let waiting = state.write { state in
            state.result = result
            return state.waiting
        }
        for (_, end) in waiting { end() }
    }

    /// The command is over and the turn is free: tasks go on.
    func tell() {
        let (result, waiting) = state.write { state in
            state.isOver = true
            return (state.result!, state.waiting.drain())
        }
        waiting.map { waiting in { waiting.continuation.resume(returning: result) } }.callIndependently()
    }

    /// The command does not run.
    ///
    /// - Returns: What lets the tasks go on that wait; `nil` if there are none.
    func end(_ failure: QueueSafeValueError) -> (() -> Void)? {
        let (waitingForStart, waiting) = state.write { state in
            state.result = .failure(failure)
            state.hasStarted = true
            state.isOver = true
            return (state.waitingForStart.drain(), state.waiting.drain())
        }
        for (_, end) in waiting { end() }
        if waitingForStart.isEmpty, waiting.isEmpty { return nil }
        return {
            var resumptions: [@Sendable () -> Void] = waitingForStart.map { continuation in { continuation.resume() } }
            resumptions += waiting.map { waiting in { waiting.continuation.resume(returning: .failure(failure)) } }
            resumptions.callIndependently()
        }
    }

    /// Waits until the command has the turn, or is over.
    func waitForStart() async {
        await withCheckedContinuation { continuation in
            let hasStarted = state.write { state in
                if !state.hasStarted { state.waitingForStart.append(continuation) }
                return state.hasStarted
            }
            if hasStarted { continuation.resume() }
        }
    }

    /// Waits until the command is over.
    func wait() async -> Result<Answer, QueueSafeValueError> {
        await wait {
            true
        } end: {
        }!
    }

    /// Waits until the command is over.
    ///
    /// - Parameters:
    ///   - begin: Called under a lock, unless the command has done its work: whether it may be waited for.
    ///   - end: Called if so, when the command has done its work, and not when the task goes on, which may be much
    ///     later.
    /// - Returns: The result of the command; `nil` if it is not waited for.
    func wait(
        begin: () -> Bool,
        end: @escaping @Sendable () -> Void
    ) async -> Result<Answer, QueueSafeValueError>? {
        await withCheckedContinuation { continuation in
            let (isWaiting, result) = state.write { state in
                if state.isOver { return (false, state.result) }
                if state.result == nil, !begin() { return (false, nil) }
                // If it has done its work, `end` was for those before.
                state.waiting.append((continuation, end))
                return (true, nil)
            }
            if !isWaiting { continuation.resume(returning: result) }
        }
    }
}
