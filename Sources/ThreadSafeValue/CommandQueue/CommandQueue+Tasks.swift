//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

// Commands that a task awaits. One that finds the turn free runs in the task, at once; any other waits in the lane of a
// global queue, so no thread of the cooperative pool ever waits for a turn.

extension CommandQueue where Value: Sendable {
    /// Runs `body` with the turn, and suspends the task for as long as that takes.
    @usableFromInline
    func performAwaited<Success: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        isChange: Bool,
        _ body: @escaping @Sendable (inout Value) throws -> Success
    ) async -> Result<Success, QueueSafeValueError> {
        await performAwaited(priority, until: Deadline(after: timeout)) { turn in (turn.run(body), isChange: isChange) }
    }

    /// Runs `work` with the turn, and suspends the task for as long as that takes, or until the time is over.
    ///
    /// - Parameters:
    ///   - priority: how early it gets its turn.
    ///   - deadline: until when it waits for that.
    ///   - work: what to do with the turn: returns the result, and whether the value may have changed.
    /// - Returns: the result, or why there was no turn.
    func performAwaited<Success: Sendable>(
        _ priority: CommandPriority,
        until deadline: Deadline,
        _ work: @escaping @Sendable (CommandQueue) -> (Result<Success, QueueSafeValueError>, isChange: Bool)
    ) async -> Result<Success, QueueSafeValueError> {
        switch tryToTakeTurnAwaited(priority, until: deadline) {
        case .taken:
            let (result, isChange) = work(self)
            giveTurnBack(of: TurnWord.currentThread, afterChange: isChange)
            return result
        case .refused(let failure): return .failure(failure)
        case .busy: break
        }
        return await submitAwaited(priority, until: deadline) { resume in
            let (result, isChange) = work(self)
            // When the task goes on, its command is over.
            return .complete(isChange: isChange) { resume(result) }
        }
    }

    /// Runs `body` with the turn, which is kept while it is suspended.
    @usableFromInline
    func performAwaitedBody<Success: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        _ body: @Sendable (inout Value) async throws -> Success
    ) async -> Result<Success, QueueSafeValueError> {
        let owner = TaskBody()
        let deadline = Deadline(after: timeout)
        switch tryToTakeTurnAwaited(priority, until: deadline) {
        case .taken: moveTurn(to: owner.holder)
        case .refused(let failure): return .failure(failure)
        case .busy:
            let turn: Result<Void, QueueSafeValueError> = await submitAwaited(priority, until: deadline) { resume in
                moveTurn(to: owner.holder)
                resume(.success(()))
                return .detached
            }
            if case .failure(let failure) = turn { return .failure(failure) }
        }
        return await run(body, as: owner)
    }

    /// What an async body returns or throws, which has the turn; gives that back.
    func run<Success: Sendable>(
        _ body: @Sendable (inout Value) async throws -> Success,
        as owner: TaskBody
    ) async -> Result<Success, QueueSafeValueError> {
        defer { giveTurnBack(of: owner.holder, afterChange: true) }
        do {
            return .success(try await owner.run { try unsafe await body(&value.pointee) })
        } catch {
            return .failure(.unexpected(error: error))
        }
    }

    /// Takes the turn if it is free. No task waits here.
    private func tryToTakeTurnAwaited(_ priority: CommandPriority, until deadline: Deadline) -> Attempt {
        if Task.isCancelled { return .refused(.cancelled) }
        let attempt = tryToTakeTurn(priority, .none)
        if case .busy = attempt, deadline == .passed { return .refused(.timedOut) }
        return attempt
    }

    /// Waits in line for `work`, which must resume the task in the end. A cancelled task leaves the line.
    private func submitAwaited<Success: Sendable>(
        _ priority: CommandPriority,
        until deadline: Deadline,
        _ work:
            @escaping (@escaping (Result<Success, QueueSafeValueError>) -> Void) -> PendingCommand.Ending
    ) async -> Result<Success, QueueSafeValueError> {
        let body = TaskBody.current
        guard WaitGraph.shared.begin(for: word, thread: 0, body: body) else { return .failure(.circularWait) }
        let submission = Submission()
        return await withTaskCancellationHandler {
            unsafe await withUnsafeContinuation { continuation in
                submit(priority, until: deadline, as: submission) { turn in
                    // After the closure, which may wait for a value that the task's body has; and not when the task goes on, which
                    // may be much later.
                    defer { WaitGraph.shared.end(for: word, thread: 0, body: body) }
                    switch turn {
                    case .success: return work { unsafe continuation.resume(returning: $0) }
                    case .failure(let failure):
                        return .complete(isChange: false) {
                            unsafe continuation.resume(returning: .failure(failure))
                        }
                    }
                }
            }
        } onCancel: {
            submission.end(.cancelled)
        }
    }

    /// Puts a command of a task in line, and returns at once.
    ///
    /// - Parameters:
    ///   - priority: how early it gets its turn.
    ///   - deadline: when it leaves the line.
    ///   - submission: what takes it out before.
    ///   - work: what to run on a global queue once the command has the turn, or when it is clear that it never will.
    func submit(
        _ priority: CommandPriority,
        until deadline: Deadline,
        as submission: Submission,
        work: @escaping PendingCommand.Work
    ) {
        let timer = deadline == .never ? nil : TimerThread.shared.set(deadline.time, for: submission)
        let answer = submit(priority, in: awaitedTarget) { turn in
            if let timer { TimerThread.shared.remove(timer) }
            return work(turn)
        }
        switch answer {
        case .success(let command): submission.attach(command)
        case .failure(let failure):
            if let timer { TimerThread.shared.remove(timer) }
            if case .complete(_, let tell?) = work(.failure(failure)) { tell() }
        }
    }
}

/// A command of a task that may not be in line yet, and may have to leave already.
struct Submission: Sendable {
    private struct State {
        var command: CommandHandle?
        var ending: QueueSafeValueError?
    }

    private let state = Protected(State())
}

extension Submission {
    func attach(_ command: CommandHandle) {
        let ending = state.write { state in
            state.command = command
            return state.ending
        }
        if let ending { _ = command.end(ending) }
    }

    /// Takes the command out of the line, unless it has begun.
    ///
    /// - Returns: whether this has ended it, and its queue. The reference may be the last one.
    @discardableResult
    func end(_ ending: QueueSafeValueError) -> (isEnded: Bool, queue: AnyObject?) {
        let command = state.write { state in
            if state.ending == nil { state.ending = ending }
            return state.command
        }
        return command?.end(ending) ?? (false, nil)
    }
}

extension Submission: TimerTarget {
    // Not inlined, so that the caller has no other reference to the queue.
    @inline(never)
    func timerFired() -> Unmanaged<AnyObject>? {
        unsafe end(.timedOut).queue.map { unsafe .passRetained($0) }
    }
}

/// Where commands of tasks run that had to wait.
private let awaitedTarget = DispatchQueue.global(qos: .userInitiated)
