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
    let command: PendingSubmission
    let answer: SubmittedAnswer<Answer>

    @usableFromInline
    init(_ command: PendingSubmission, _ answer: SubmittedAnswer<Answer>) {
        self.command = command
        self.answer = answer
    }
}

extension SubmittedCommand {
    /// What the closure of the command returned, or why the command failed; waits until it is over.
    ///
    /// A cancelled task submits and waits too: it is ``cancel()`` that takes the command back. Inside an async closure
    /// that has the turn that the command waits for, the answer is ``QueueSafeValueError/reentrantCommand``, and the
    /// command never runs. It may be ``QueueSafeValueError/circularWait`` for one that has begun, if it waits for the
    /// async closure that awaits it: then it runs to its end all the same. Awaited inside an async closure of another
    /// value, a command without a time-out keeps its value.
    nonisolated(nonsending) public var value: Result<Answer, QueueSafeValueError> {
        get async { await command.end().flatMap { answer.result! } }
    }

    /// Takes the command out, unless it has started.
    ///
    /// Its closure is never called then, and its ``value`` is ``QueueSafeValueError/cancelled``.
    ///
    /// - Returns: `true` if this call cancelled the command; `false` if it had started or was over before.
    @discardableResult
    public func cancel() -> Bool {
        command.submission.end(.cancelled, atOnce: false)
    }
}

/// What the closure of a submitted command returned or threw.
///
/// `@unchecked Sendable`: written once, by who has the turn, and read by who knows that the command is over.
@usableFromInline
final class SubmittedAnswer<Answer: Sendable>: @unchecked Sendable {
    @usableFromInline
    var result: Result<Answer, QueueSafeValueError>?

    @inlinable
    init() {}
}

/// A submitted command without its answer: what is not generic over that asks the runtime for no types.
@usableFromInline
struct PendingSubmission: Sendable {
    let submission: Submission
    let progress: CommandProgress
    let reference: QueueReference

    /// Whether it has no time-out.
    let isEndless: Bool
}

extension PendingSubmission {
    /// Waits until the command is over.
    ///
    /// - Returns: Whether its closure has run, or why not.
    nonisolated(nonsending) func end() async -> Result<Void, QueueSafeValueError> {
        if let end = progress.end { return end }
        // Only a task that is part of a body can be in a circle.
        guard let body = TaskBody.current else { return await progress.wait() }
        // A wait that ends is in no circle for ever, and none does that has begun.
        if !isEndless, !isInside(body) { await progress.waitForStart() }
        // It keeps the queue as long as it is in the graph.
        guard let queue = reference.queue else { return await progress.wait() }
        defer { withExtendedLifetime(queue) {} }
        let resource = queue.turns.resource
        let end = await progress.wait {
            WaitGraph.shared.begin(for: resource, thread: 0, body: body) == nil
        } end: {
            WaitGraph.shared.end(for: resource, thread: 0, body: body)
        }
        if let end { return end }
        let failure = isInside(body) ? QueueSafeValueError.reentrantCommand : .circularWait
        // One that has begun goes on, and waits for this task; one that has left in another way has its own answer.
        let isEnded = submission.end(failure, atOnce: false)
        if !isEnded, progress.isRecorded || submission.hasLeft { return await progress.wait() }
        return .failure(failure.reported(for: queue.valueType, "a submitted command that is awaited"))
    }

    /// Whether a body has the turn that the command waits for.
    private func isInside(_ body: TaskBody) -> Bool {
        reference.withTurns { body.isPart(of: $0.turn.holder) } ?? false
    }
}

/// How far a submitted command is, and the tasks that wait for that.
struct CommandProgress: Sendable {
    private typealias Continuation = CheckedContinuation<Result<Void, QueueSafeValueError>?, Never>

    private struct State: Sendable {
        /// Whether its closure has run, or why not.
        var end: Result<Void, QueueSafeValueError>?
        var hasStarted = false
        var isOver = false
        var waitingForStart: [CheckedContinuation<Void, Never>] = []
        var waiting: [(continuation: Continuation, end: @Sendable () -> Void)] = []
    }

    private let state = Protected(State())
}

extension CommandProgress {
    /// Whether the command has done its work, or does not run.
    var isRecorded: Bool { state.read { $0.end != nil } }

    /// Whether the closure of a command that is over has run, or why not.
    var end: Result<Void, QueueSafeValueError>? { state.read { $0.isOver ? $0.end : nil } }

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
    func record() {
        let waiting = state.write { state in
            state.end = .success(())
            return state.waiting
        }
        for (_, end) in waiting { end() }
    }

    /// The command is over and the turn is free: tasks go on.
    func tell() {
        let waiting = state.write { state in
            state.isOver = true
            return state.waiting.drain()
        }
        waiting.map { waiting in { waiting.continuation.resume(returning: .success(())) } }.callIndependently()
    }

    /// The command does not run.
    ///
    /// - Returns: What lets the tasks go on that wait; `nil` if there are none.
    func end(_ failure: QueueSafeValueError) -> (() -> Void)? {
        let (waitingForStart, waiting) = state.write { state in
            state.end = .failure(failure)
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
    nonisolated(nonsending) func waitForStart() async {
        await withCheckedContinuation { continuation in
            let hasStarted = state.write { state in
                if !state.hasStarted { state.waitingForStart.append(continuation) }
                return state.hasStarted
            }
            if hasStarted { continuation.resume() }
        }
    }

    /// Waits until the command is over.
    nonisolated(nonsending) func wait() async -> Result<Void, QueueSafeValueError> {
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
    /// - Returns: Whether its closure has run, or why not; `nil` if it is not waited for.
    nonisolated(nonsending) func wait(
        begin: () -> Bool,
        end: @escaping @Sendable () -> Void
    ) async -> Result<Void, QueueSafeValueError>? {
        await withCheckedContinuation { continuation in
            let (isWaiting, known) = state.write { state in
                if state.isOver { return (false, state.end) }
                if state.end == nil, !begin() { return (false, nil) }
                // If it has done its work, `end` was for those before.
                state.waiting.append((continuation, end))
                return (true, nil)
            }
            if !isWaiting { continuation.resume(returning: known) }
        }
    }
}
