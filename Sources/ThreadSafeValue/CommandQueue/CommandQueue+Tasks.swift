//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

// Commands that a task awaits. One that finds the turn free runs in the task, at once; any other waits in the lane of
// a global queue, so no thread of the cooperative pool ever waits for a turn.

extension CommandQueue where Value: Sendable {
    /// Runs `body` with the turn, and suspends the task for as long as that takes.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) func performAwaited<Success: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        isChange: Bool,
        _ body: @escaping @Sendable (inout Value) throws -> Success
    ) async -> Result<Success, QueueSafeValueError> {
        let thread = TurnWord.currentThread
        if !Task.isCancelled, word.exchangeAcquiring(TurnWord.idle, for: thread) {
            return runAndGiveTurnBack(of: thread, isChange: isChange, body)
        }
        return await performAwaitedInLine(priority, timeout, isChange: isChange, body)
    }

    @usableFromInline
    nonisolated(nonsending) func performAwaitedInLine<Success: Sendable>(
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
    ///   - priority: How early it gets its turn.
    ///   - deadline: Until when it waits for that.
    ///   - work: What to do with the turn: returns the result, and whether the value may have changed.
    /// - Returns: The result, or why there was no turn.
    nonisolated(nonsending) func performAwaited<Success: Sendable>(
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
            return (.complete(isChange: isChange) { resume(result) }, nil)
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
        if let failure = await waitForTurn(priority, until: Deadline(after: timeout), as: owner) {
            return .failure(failure)
        }
        // The holder is the address of the owner, which stays until the turn is free.
        defer { withExtendedLifetime(owner) { giveTurnBack(of: owner.holder, afterChange: true) } }
        return await run(body, as: owner)
    }

    /// Takes the turn for an async body, and suspends the task for as long as that takes.
    ///
    /// - Returns: `nil` with the turn, or why there is none.
    private func waitForTurn(
        _ priority: CommandPriority,
        until deadline: Deadline,
        as owner: TaskBody
    ) async -> QueueSafeValueError? {
        switch tryToTakeTurnAwaited(priority, until: deadline) {
        case .taken: moveTurn(to: owner.holder)
        case .refused(let failure): return failure
        case .busy: return await waitInLine(priority, until: deadline, as: owner)
        }
        return nil
    }

    /// The task stands in line, and takes the turn itself when it goes on, as a thread does: no turn is held for a task
    /// whose executor is late.
    private func waitInLine(
        _ priority: CommandPriority,
        until deadline: Deadline,
        as owner: TaskBody
    ) async -> QueueSafeValueError? {
        let resource = storage.turns.resource
        // A wait that ends is in no circle for ever.
        let isEndless = deadline == .never
        if isEndless, WaitGraph.shared.begin(for: resource, thread: 0, body: owner.outer) != nil {
            return QueueSafeValueError.circularWait.reported(for: Value.self, "async.\(priority)Priority")
        }
        let task = WaitingTask()
        let lane = Lane(of: task)
        let submission = Submission()
        return await withTaskCancellationHandler {
            var step = unsafe await withUnsafeContinuation { continuation in
                unsafe task.suspend(continuation)
                func end(_ turn: Result<AnyObject, QueueSafeValueError>) -> PendingCommand.Ending {
                    if case .failure(let failure) = turn {
                        // At once: the task may go on much later.
                        if isEndless { WaitGraph.shared.end(for: resource, thread: 0, body: owner.outer) }
                        task.end(failure)
                    }
                    return .complete(isChange: false, tell: nil)
                }
                submit(until: deadline, as: submission, work: end) {
                    storage.turns.submit(priority, with: lane, work: $0)
                }
            }
            while true {
                switch step {
                case .begin: return nil
                case .end(let failure):
                    storage.turns.end(lane)
                    return failure
                case .look:
                    step = unsafe await withUnsafeContinuation { continuation in
                        // First: when it has looked in vain, it may have to go on at once.
                        unsafe task.suspend(continuation)
                        guard storage.turns.takeTurn(for: lane, as: owner.holder) else { return }
                        if isEndless { WaitGraph.shared.end(for: resource, thread: 0, body: owner.outer) }
                        task.begin()
                    }
                }
            }
        } onCancel: {
            submission.end(.cancelled)
        }
    }

    /// What an async body returns or throws. Only with the turn.
    private func run<Success: Sendable>(
        _ body: @Sendable (inout Value) async throws -> Success,
        as owner: TaskBody
    ) async -> Result<Success, QueueSafeValueError> {
        // The turn came from the thread that resumed the task, or started it: all that it saw is visible here.
        _ = word.loadAcquiring()
        do {
            return .success(try await owner.run { try unsafe await body(&value.pointee) })
        } catch {
            return .failure(.unexpected(error: error))
        }
    }

    /// Takes the turn if it is free. No task waits here.
    private func tryToTakeTurnAwaited(_ priority: CommandPriority, until deadline: Deadline) -> Attempt {
        if Task.isCancelled { return .refused(.cancelled) }
        let attempt = tryToTakeTurn(priority, .none, inTask: true)
        switch attempt {
        case .busy where deadline == .passed: return .refused(.timedOut)
        case .refused(let failure): failure.reported(for: Value.self, "async.\(priority)Priority")
        default: break
        }
        return attempt
    }

    /// Waits in line for `work`, which must resume the task in the end. A cancelled task leaves the line.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - deadline: Until when it waits for that.
    ///   - work: Runs with the turn. Returns how it left that, and what is to be called when the task waits no more.
    /// - Returns: What the task is resumed with, or why there was no turn.
    nonisolated(nonsending) private func submitAwaited<Success: Sendable>(
        _ priority: CommandPriority,
        until deadline: Deadline,
        _ work:
            @escaping (@escaping (Result<Success, QueueSafeValueError>) -> Void) -> (
                PendingCommand.Ending, (() -> Void)?
            )
    ) async -> Result<Success, QueueSafeValueError> {
        let body = TaskBody.current
        // A wait that ends is in no circle for ever.
        let isEndless = deadline == .never
        let resource = storage.turns.resource
        if isEndless, WaitGraph.shared.begin(for: resource, thread: 0, body: body) != nil {
            return .failure(QueueSafeValueError.circularWait.reported(for: Value.self, "async.\(priority)Priority"))
        }
        let submission = Submission()
        return await withTaskCancellationHandler {
            unsafe await withUnsafeContinuation { continuation in
                submit(priority, until: deadline, as: submission) { turn in
                    // After the closure, which may wait for a value that the task's body has, and before the task goes
                    // on: it may be done with the value before `resume` returns.
                    func stopWaiting() {
                        WaitGraph.shared.end(for: resource, thread: 0, body: body)
                    }
                    switch turn {
                    case .success:
                        // From here on nothing ends it but the closure. No circle yet: this thread waits for nothing.
                        if !isEndless { _ = WaitGraph.shared.begin(for: resource, thread: 0, body: body) }
                        let (ending, goOn) = work { unsafe continuation.resume(returning: $0) }
                        stopWaiting()
                        goOn?()
                        return ending
                    case .failure(let failure):
                        // At once: the threads of the global queue may all wait for something that the task is to do.
                        if isEndless { stopWaiting() }
                        unsafe continuation.resume(returning: .failure(failure))
                        return .complete(isChange: false, tell: nil)
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
    ///   - priority: How early it gets its turn.
    ///   - deadline: When it leaves the line.
    ///   - submission: What takes it out before.
    ///   - work: What to run on a global queue once the command has the turn, or when it is clear that it never will.
    func submit(
        _ priority: CommandPriority,
        until deadline: Deadline,
        as submission: Submission,
        work: @escaping PendingCommand.Work
    ) {
        submit(until: deadline, as: submission, work: work) { submit(priority, in: awaitedTarget, work: $0) }
    }

    /// The same, with what puts it in line.
    private func submit(
        until deadline: Deadline,
        as submission: Submission,
        work: @escaping PendingCommand.Work,
        _ append: (@escaping PendingCommand.Work) -> Result<CommandHandle, QueueSafeValueError>
    ) {
        let timer = deadline == .never ? nil : TimerThreads.timeouts.set(deadline.time, for: submission)
        let answer = append { turn in
            if let timer { TimerThreads.timeouts.remove(timer) }
            return work(turn)
        }
        switch answer {
        case .success(let command): submission.attach(command)
        case .failure(let failure):
            if let timer { TimerThreads.timeouts.remove(timer) }
            _ = work(.failure(failure))
        }
    }
}

// Commands that are submitted now and awaited later.

extension CommandQueue where Value: Sendable {
    /// Puts `body` in line, and returns at once.
    @usableFromInline
    func submit<Answer: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        _ body: @escaping @Sendable (inout Value) throws -> Answer
    ) -> SubmittedCommand<Answer> {
        submit(priority, timeout) { queue, ending in
            ending.record(queue.run(body))
            return .complete(isChange: true) { ending.tell() }
        }
    }

    /// The same with an async body, which has a task of its own.
    @usableFromInline
    func submitBody<Answer: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        _ body: @escaping @Sendable (inout Value) async throws -> Answer
    ) -> SubmittedCommand<Answer> {
        let taskPriority = Task.currentPriority
        return submit(priority, timeout) { queue, ending in
            let owner = TaskBody()
            queue.moveTurn(to: owner.holder)
            Task.detached(priority: taskPriority) {
                ending.record(await queue.run(body, as: owner))
                withExtendedLifetime(owner) { queue.giveTurnBack(of: owner.holder, afterChange: true) }
                ending.tell()
            }
            return .detached
        }
    }

    private func submit<Answer: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        _ work: @escaping (CommandQueue, CommandEnding<Answer>) -> PendingCommand.Ending
    ) -> SubmittedCommand<Answer> {
        let (submission, ending) = (Submission(), CommandEnding<Answer>())
        let deadline = Deadline(after: timeout)
        if deadline == .passed, let failure = failureNow(priority) {
            ending.end(.failure(failure))
        } else {
            // The work does not keep the queue: a suspended value that nobody holds goes away.
            submit(priority, until: deadline.isTime ? deadline : .never, as: submission) { turn in
                switch turn {
                case .success(let storage):
                    ending.start()
                    return work(CommandQueue(of: storage), ending)
                case .failure(let failure):
                    ending.end(.failure(failure))
                    return .complete(isChange: false, tell: nil)
                }
            }
        }
        return SubmittedCommand(
            submission: submission,
            ending: ending,
            reference: withTurnQueue { $0.weakReference() },
            isEndless: !deadline.isTime
        )
    }

    /// Why a command that does not wait for the turn is not accepted; `nil` if the turn is free.
    ///
    /// It is not kept for the command, whose queue may not start for long.
    private func failureNow(_ priority: CommandPriority) -> QueueSafeValueError? {
        switch tryToTakeTurn(priority, .none, inTask: true) {
        case .taken:
            giveTurnBack(of: TurnWord.currentThread, afterChange: false)
            return nil
        case .busy: return .timedOut
        case .refused(let failure): return failure.reported(for: Value.self, "async.\(priority)Priority.submit")
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
    /// Whether the command was taken out of the line, by whomever.
    var hasLeft: Bool {
        switch state.wrappedValue.command?.state {
        case .cancelled, .refused: true
        default: false
        }
    }

    func attach(_ command: CommandHandle) {
        let ending = state.write { state in
            state.command = command
            return state.ending
        }
        if let ending { command.end(ending) }
    }

    /// Takes the command out of the line, unless it has begun.
    ///
    /// - Parameter ending: What the task gets.
    /// - Returns: Whether this has ended it.
    @discardableResult
    func end(_ ending: QueueSafeValueError) -> Bool {
        let command = state.write { state in
            if state.ending == nil { state.ending = ending }
            return state.command
        }
        return command?.end(ending) ?? false
    }
}

extension Submission: TimerTarget {
    func timerFired() {
        end(.timedOut)
    }
}

/// Where commands of tasks run that had to wait.
private let awaitedTarget = DispatchQueue.global(qos: .userInitiated)
