//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

// Commands that a task awaits. One that finds the turn free runs in the task, at once; any other waits in the lane of
// a global queue, so no thread of the cooperative pool ever waits for a turn. An async body runs in the task, which
// waits in a lane of its own: see `WaitingTask`.

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
        // Before, so that it takes no turn from anybody.
        if Task.isCancelled { return .failure(.cancelled) }
        let thread = TurnWord.currentThread
        if word.exchangeAcquiring(TurnWord.idle, for: thread) {
            // And with the turn: who had it before may have cancelled the task.
            if !Task.isCancelled { return runAndGiveTurnBack(of: thread, isChange: isChange, body) }
            giveTurnBack(of: thread, afterChange: false)
            return .failure(.cancelled)
        }
        return await performAwaitedSlowly(priority, timeout, isChange: isChange, body)
    }

    @usableFromInline
    nonisolated(nonsending) func performAwaitedSlowly<Success: Sendable>(
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
    ///   - evenIfFull: Whether the bound of the value does not count.
    ///   - work: What to do with the turn: returns the result, and whether the value may have changed.
    /// - Returns: The result, or why there was no turn.
    nonisolated(nonsending) func performAwaited<Success: Sendable>(
        _ priority: CommandPriority,
        until deadline: Deadline,
        evenIfFull: Bool = false,
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
        return await performAwaitedInLine(priority, until: deadline, evenIfFull, work)
    }

    /// Runs `body` with the turn, which is kept while it is suspended.
    @inlinable
    nonisolated(nonsending) func performAwaitedBody<Success: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        _ body: @Sendable (inout Value) async throws -> Success
    ) async -> Result<Success, QueueSafeValueError> {
        // The time counts from here: the pool may come to the task of an actor much later.
        await performAwaitedBody(priority, until: Deadline(after: timeout), body)
    }

    @inlinable
    func performAwaitedBody<Success: Sendable>(
        _ priority: CommandPriority,
        until deadline: Deadline,
        _ body: @Sendable (inout Value) async throws -> Success
    ) async -> Result<Success, QueueSafeValueError> {
        // What takes the turn is not generic over the answer, so it asks the runtime for no types.
        var result: Result<Success, QueueSafeValueError>?
        let failure = await withTurnOfBody(priority, until: deadline) { result = await run(body) }
        return failure.map(Result.failure) ?? result!
    }

    /// Runs `operation` as an async body that has the turn.
    ///
    /// - Returns: `nil`, or why there was no turn.
    @usableFromInline
    nonisolated(nonsending) func withTurnOfBody(
        _ priority: CommandPriority,
        until deadline: Deadline,
        _ operation: nonisolated(nonsending) () async -> Void
    ) async -> QueueSafeValueError? {
        let owner = TaskBody()
        return await owner.run {
            switch tryToTakeTurnAwaited(priority, until: deadline, as: owner.holder) {
            case .taken: break
            case .refused(let failure): return failure
            case .busy:
                if let failure = await waitInLine(priority, until: deadline, as: owner) { return failure }
            }
            await operation()
            // The holder is the address of the owner, which stays until the turn is free.
            withExtendedLifetime(owner) { giveTurnBack(of: owner.holder, afterChange: true) }
            return nil
        }
    }

    /// The task stands in line, and takes the turn itself when it goes on, as a thread does: no turn is held for a task
    /// whose executor is late.
    private func waitInLine(
        _ priority: CommandPriority,
        until deadline: Deadline,
        as owner: TaskBody
    ) async -> QueueSafeValueError? {
        if let failure = beginWaiting(priority, until: deadline, in: owner.outer) { return failure }
        let (resource, isEndless) = (storage.turns.resource, deadline == .never)
        let task = WaitingTask()
        let lane = Lane(of: task)
        let submission = Submission(until: deadline)
        func end(_ turn: Result<AnyObject, QueueSafeValueError>) -> PendingCommand.Ending {
            guard case .failure(let failure) = turn else { return .complete(isChange: false, tell: nil) }
            submission.stopTimer()
            // At once: the task may go on much later.
            if isEndless { WaitGraph.shared.end(for: resource, thread: 0, body: owner.outer) }
            return .complete(isChange: false) { task.end(failure) }
        }
        var isInLine = false
        while true {
            // Its end takes a lock of the task in the runtime, under which another thread may do what is to be done when
            // the task is cancelled, and wait for the value meanwhile: so not with the turn.
            let step = await withTaskCancellationHandler {
                unsafe await withUnsafeContinuation { continuation in
                    if !isInLine {
                        isInLine = true
                        submit(as: submission, work: end) {
                            storage.turns.submit(priority, with: lane, as: submission, work: $0)
                        }
                    }
                    unsafe task.suspend(continuation)
                }
            } onCancel: {
                submission.end(.cancelled, atOnce: true)
            }
            switch step {
            case .end(let failure):
                storage.turns.end(lane)
                return failure
            case .look(let block):
                guard lane.blockIsNeeded(),
                    let command = storage.turns.takeTurn(for: lane, block: block, as: owner.holder)
                else { continue }
                command.dropWork()
                if isEndless { WaitGraph.shared.end(for: resource, thread: 0, body: owner.outer) }
                let isLate = submission.stopTimer()
                guard isLate || Task.isCancelled else { return nil }
                giveTurnBack(of: owner.holder, afterChange: false)
                return isLate ? .timedOut : .cancelled
            }
        }
    }

    /// What an async body returns or throws. Only with the turn.
    @inlinable
    nonisolated(nonsending) func run<Success: Sendable>(
        _ body: @Sendable (inout Value) async throws -> Success
    ) async -> Result<Success, QueueSafeValueError> {
        do {
            return .success(try unsafe await body(&value.pointee))
        } catch {
            return .failure(.unexpected(error: error))
        }
    }

    /// Takes the turn if it is free. No task waits here.
    private func tryToTakeTurnAwaited(
        _ priority: CommandPriority,
        until deadline: Deadline,
        as holder: UInt64 = TurnWord.currentThread
    ) -> Attempt {
        if Task.isCancelled { return .refused(.cancelled) }
        let attempt = withTurnQueue { $0.tryToTakeTurn(priority, .none, inTask: true, as: holder) }
        // And with the turn: who had it before may have cancelled the task, which may have come late.
        let isLate = deadline.isTime && deadline.hasPassed
        if isLate || Task.isCancelled {
            if case .taken = attempt { giveTurnBack(of: holder, afterChange: false) }
            return .refused(isLate ? .timedOut : .cancelled)
        }
        switch attempt {
        case .busy where deadline == .passed: return .refused(.timedOut)
        case .refused(let failure): failure.reported(for: Value.self, "async.\(priority)Priority")
        default: break
        }
        return attempt
    }

    /// A task is about to wait in line. It is in the graph then, but not with a deadline: a wait that ends is in no
    /// circle for ever.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - deadline: Until when it waits for that.
    ///   - body: What the task is part of.
    /// - Returns: Why it must not wait, if it must not.
    private func beginWaiting(
        _ priority: CommandPriority,
        until deadline: Deadline,
        in body: TaskBody?
    ) -> QueueSafeValueError? {
        guard deadline == .never,
            WaitGraph.shared.begin(for: storage.turns.resource, thread: 0, body: body) != nil
        else { return nil }
        return QueueSafeValueError.circularWait.reported(for: Value.self, "async.\(priority)Priority")
    }

    /// Waits in line, runs `work` on a global queue, and resumes the task. A cancelled task leaves the line.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - deadline: Until when it waits for that.
    ///   - evenIfFull: Whether the bound of the value does not count.
    ///   - work: What to do with the turn: returns the result, and whether the value may have changed.
    /// - Returns: The result, or why there was no turn.
    nonisolated(nonsending) private func performAwaitedInLine<Success: Sendable>(
        _ priority: CommandPriority,
        until deadline: Deadline,
        _ evenIfFull: Bool,
        _ work: @escaping @Sendable (CommandQueue) -> (Result<Success, QueueSafeValueError>, isChange: Bool)
    ) async -> Result<Success, QueueSafeValueError> {
        let closure = AwaitedClosure()
        let body = closure.body
        if let failure = beginWaiting(priority, until: deadline, in: body) { return .failure(failure) }
        let (resource, isEndless) = (storage.turns.resource, deadline == .never)
        let submission = Submission(until: deadline)
        return await withTaskCancellationHandler {
            unsafe await withUnsafeContinuation { continuation in
                func runInLine(_ turn: Result<AnyObject, QueueSafeValueError>) -> PendingCommand.Ending {
                    if let failure = submission.begin(with: turn) {
                        if isEndless { WaitGraph.shared.end(for: resource, thread: 0, body: body) }
                        return .complete(isChange: false) { unsafe continuation.resume(returning: .failure(failure)) }
                    }
                    // From here on nothing ends it but the closure. No circle yet: this thread waits for nothing.
                    if !isEndless { _ = WaitGraph.shared.begin(for: resource, thread: 0, body: body) }
                    let (result, isChange) = closure.run { work(self) }
                    // After the closure, which may wait for a value that the task's body has.
                    WaitGraph.shared.end(for: resource, thread: 0, body: body)
                    // When the task goes on, its command is over.
                    return .complete(isChange: isChange) { unsafe continuation.resume(returning: result) }
                }
                submit(as: submission, work: runInLine) {
                    storage.turns.submit(priority, in: awaitedTarget, as: submission, evenIfFull: evenIfFull, work: $0)
                }
            }
        } onCancel: {
            submission.end(.cancelled, atOnce: true)
        }
    }

    /// Puts a command of a task in line, and returns at once.
    ///
    /// - Parameters:
    ///   - submission: What takes it out, in time or before.
    ///   - work: What to run once the command has the turn, or when it is clear that it never will.
    ///   - append: Puts it in line.
    private func submit(
        as submission: Submission,
        work: @escaping PendingCommand.Work,
        _ append: (@escaping PendingCommand.Work) -> Result<CommandHandle, QueueSafeValueError>
    ) {
        submission.startTimer()
        guard case .failure(let failure) = append(work) else { return }
        if case .complete(_, let tell) = work(.failure(failure)) { tell?() }
    }
}

// Commands that are submitted now and awaited later.

extension CommandQueue where Value: Sendable {
    /// Puts `body` in line, and returns at once.
    @inlinable
    func submit<Answer: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        _ body: @escaping @Sendable (inout Value) throws -> Answer
    ) -> SubmittedCommand<Answer> {
        let answer = SubmittedAnswer<Answer>()
        let command = submit(priority, timeout) { queue in answer.result = queue.run(body) }
        return SubmittedCommand(command, answer)
    }

    /// The same with an async body, which has a task of its own.
    @inlinable
    func submitBody<Answer: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        _ body: @escaping @Sendable (inout Value) async throws -> Answer
    ) -> SubmittedCommand<Answer> {
        let answer = SubmittedAnswer<Answer>()
        let command = submitAsync(priority, timeout) { queue in answer.result = await queue.run(body) }
        return SubmittedCommand(command, answer)
    }

    /// Puts `operation` in line, which is called with the turn.
    @usableFromInline
    func submit(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        _ operation: @escaping @Sendable (CommandQueue) -> Void
    ) -> PendingSubmission {
        submit(priority, timeout, isAsync: false) { storage, submission, progress in
            if submission.stopTimer() { return .complete(isChange: false, tell: progress.end(.timedOut)) }
            progress.start()
            operation(CommandQueue(of: storage))
            progress.record()
            return .complete(isChange: true) { progress.tell() }
        }
    }

    @usableFromInline
    func submitAsync(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        _ operation: @escaping @Sendable (CommandQueue) async -> Void
    ) -> PendingSubmission {
        let taskPriority = Task.currentPriority
        return submit(priority, timeout, isAsync: true) { block, submission, progress in
            let block = unsafe unsafeDowncast(block, to: TaskBlock.self)
            Task.detached(priority: taskPriority) {
                let (queue, owner) = (CommandQueue(of: block.owner), TaskBody())
                guard let command = block.takeTurn(as: owner.holder) else { return }
                defer { command.dropWork() }
                if submission.stopTimer() {
                    let tell = progress.end(.timedOut)
                    withExtendedLifetime(owner) { queue.giveTurnBack(of: owner.holder, afterChange: false) }
                    tell?()
                    return
                }
                progress.start()
                await owner.run { await operation(queue) }
                progress.record()
                let delivery = withExtendedLifetime(owner) {
                    queue.withTurnQueue { $0.giveTurnBackToTell(afterChange: true) }
                }
                delivery?.deliver()
                progress.tell()
                // At last: what it has pushed out of a buffer may wait, as it goes away, for who awaits the command.
                withExtendedLifetime(delivery) {}
            }
            return .detached
        }
    }

    private func submit(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        isAsync: Bool,
        _ work: @escaping (AnyObject, Submission, CommandProgress) -> PendingCommand.Ending
    ) -> PendingSubmission {
        let deadline = Deadline(after: timeout)
        let submission = Submission(until: deadline.isTime ? deadline : .never)
        let progress = CommandProgress()
        if deadline == .passed, !isTurnFree(for: priority) {
            _ = progress.end(.timedOut)
        } else {
            // The work does not keep the queue: a suspended value that nobody holds goes away.
            func runInLine(_ turn: Result<AnyObject, QueueSafeValueError>) -> PendingCommand.Ending {
                switch turn {
                case .success(let given): return work(given, submission, progress)
                case .failure(let failure):
                    submission.stopTimer()
                    return .complete(isChange: false, tell: progress.end(failure))
                }
            }
            submit(as: submission, work: runInLine) {
                storage.turns.submit(priority, in: submittedTarget, as: submission, isAsync: isAsync, work: $0)
            }
        }
        return PendingSubmission(
            submission: submission,
            progress: progress,
            reference: withTurnQueue { $0.weakReference() },
            isEndless: !deadline.isTime
        )
    }

    /// Whether the turn is free for a command that does not wait for it.
    ///
    /// It is not kept for the command, whose queue may not start for long.
    private func isTurnFree(for priority: CommandPriority) -> Bool {
        guard case .taken = tryToTakeTurn(priority, .none, inTask: true) else { return false }
        giveTurnBack(of: TurnWord.currentThread, afterChange: false)
        return true
    }
}

/// A command of a task that may not be in line yet, and may have to leave already.
@usableFromInline
struct Submission: Sendable {
    private struct State {
        var command: CommandHandle?
        var ending: QueueSafeValueError?
        var timer: Timer?
    }

    private let state = Protected(State())

    /// When it leaves the line.
    private let deadline: Deadline

    init(until deadline: Deadline) {
        self.deadline = deadline
    }
}

extension Submission {
    /// Whether the command was taken out of the line, by whomever.
    var hasLeft: Bool {
        switch state.wrappedValue.command?.state {
        case .cancelled, .refused: true
        default: false
        }
    }

    /// How it was ended, if it was.
    var ending: QueueSafeValueError? { state.wrappedValue.ending }

    /// The command is about to stand in line.
    ///
    /// - Returns: Whether it may: not if it was ended before.
    func attach(_ command: CommandHandle) -> Bool {
        state.write { state in
            if state.ending != nil { return false }
            state.command = command
            return true
        }
    }

    /// Ends it in time. Before the command is in line, so that it does not end before the timer is known.
    func startTimer() {
        if deadline == .never { return }
        let timer = TimerThreads.timeouts.set(deadline.time, for: self)
        state.write { $0.timer = timer }
    }

    /// The command has the turn, or never will.
    ///
    /// - Returns: Whether its time is over. The timer comes late where many are due at once.
    @discardableResult
    func stopTimer() -> Bool {
        if deadline == .never { return false }
        let timer = state.write { state in
            defer { state.timer = nil }
            return state.timer
        }
        if let timer { TimerThreads.timeouts.remove(timer) }
        return deadline.hasPassed
    }

    /// The command is given the turn, or is told why there is none.
    ///
    /// - Returns: Why it does not run.
    func begin(with turn: Result<AnyObject, QueueSafeValueError>) -> QueueSafeValueError? {
        let isLate = stopTimer()
        if case .failure(let failure) = turn { return failure }
        return isLate ? .timedOut : nil
    }

    /// Takes the command out of the line, unless it has begun.
    ///
    /// - Parameters:
    ///   - ending: What the task gets.
    ///   - atOnce: Whether the calling thread tells those who wait.
    /// - Returns: Whether this has ended it.
    @discardableResult
    func end(_ ending: QueueSafeValueError, atOnce: Bool) -> Bool {
        let command = state.write { state in
            if state.ending == nil { state.ending = ending }
            return state.command
        }
        return command?.end(ending, atOnce: atOnce) ?? false
    }
}

extension Submission: TimerTarget {
    func timerFired() {
        end(.timedOut, atOnce: true)
    }
}

/// Where submitted commands run. They have a lane of their own, which is late if their tasks are.
private let submittedTarget = DispatchQueue(
    label: "ThreadSafeValue.submitted",
    qos: .userInitiated,
    attributes: .concurrent
)
