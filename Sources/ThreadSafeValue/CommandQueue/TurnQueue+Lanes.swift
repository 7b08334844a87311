//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

// Commands that run on a target queue.

extension TurnQueue {
    /// Puts a command in line for its target queue and returns at once.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - target: The queue where the command runs.
    ///   - submission: Where the command is noted that a task awaits, and how it was ended, if it was.
    ///   - evenIfFull: Whether the bound of the value does not count.
    ///   - isAsync: Whether it needs a task, which its block there starts.
    ///   - work: What to run there, once the command has the turn.
    /// - Returns: The command that was accepted, or why none was; then `work` is never called.
    @usableFromInline
    func submit(
        _ priority: CommandPriority,
        in target: DispatchQueue,
        as submission: Submission? = nil,
        evenIfFull: Bool = false,
        isAsync: Bool = false,
        work: consuming @escaping PendingCommand.Work
    ) -> Result<CommandHandle, QueueSafeValueError> {
        let submitter = submitter(of: priority)
        let command = PendingCommand(priority, by: submitter.identity, isAsync: isAsync, work: work)
        return submit(command, by: submitter, as: submission, evenIfFull: evenIfFull) {
            $0.append(command, for: target)
        }
    }

    /// The same for a task that has a lane of its own.
    func submit(
        _ priority: CommandPriority,
        with lane: Lane,
        as submission: Submission,
        work: consuming @escaping PendingCommand.Work
    ) -> Result<CommandHandle, QueueSafeValueError> {
        let submitter = submitter(of: priority)
        let command = PendingCommand(priority, by: submitter.identity, work: work)
        return submit(command, by: submitter, as: submission, evenIfFull: false) { $0.append(command, with: lane) }
    }

    @inline(__always)
    private func submit(
        _ command: PendingCommand,
        by submitter: Submitter,
        as submission: Submission?,
        evenIfFull: Bool,
        append: (inout WaiterQueue) -> Void
    ) -> Result<CommandHandle, QueueSafeValueError> {
        let isAccepted = update(revokesGrant: false) { waiters, effects in
            // With a grant the front is as it was, and so is the successor.
            defer { effects.changesNothing = waiters.hasGrant }
            if !evenIfFull, waiters.isFull { return false }
            // Under the lock: who ends it later finds it in line.
            if let submission, !submission.attach(handle(of: command)) { return false }
            append(&waiters)
            return true
        }
        guard isAccepted else { return .failure(submission?.ending ?? .commandQueueFull) }
        unsafe submitter.submits(at: command.arrival)
        return .success(handle(of: command))
    }

    private func handle(of command: PendingCommand) -> CommandHandle {
        CommandHandle(.init(command: command, reference: weakReference()))
    }

    /// Takes a command out of its lane, unless it has begun.
    ///
    /// - Returns: Where its caller is to be told; `nil` if it was too late.
    func cancel(_ command: PendingCommand) -> Lane.Target? {
        update { waiters, _ in
            guard command.isWaiting, let lane = command.lane else { return nil }
            command.leave(.cancelled)
            waiters.remove(command)
            return lane.target
        }
    }

    /// Takes the commands of a priority, or all, out of the line, and tells their callers.
    ///
    /// - Returns: How many these were.
    func cancelAll(_ priority: CommandPriority?) -> Int {
        let (threadCount, parkers, others) = update { waiters, _ in
            let removed = waiters.removeAll(priority)
            for command in removed.threads {
                WaitGraph.shared.cancel(for: resource, thread: command.thread!) {
                    command.leave(.cancelled)
                }
            }
            let parked = removed.threads.filter { !$0.isSpinning }
            return (removed.threads.count, parked.map { $0.parker! }, removed.others)
        }
        for parker in parkers { parker.wake() }
        for (target, commands) in others {
            // There: the calling thread may have the turn of another value, which a task that is told waits for.
            target.tell(commands.compactMap { $0.refusal(.cancelled) })
        }
        // Once all are to be told: what goes away may wait for one of them.
        for (_, commands) in others { commands.forEach { $0.dropWork() } }
        return others.reduce(threadCount) { $0 + $1.commands.count }
    }

    /// The block of a lane: runs the lane's commands for as long as they are the front.
    func drain(_ lane: Lane, block: UInt64) {
        guard lane.blockIsNeeded() else { return }
        let outer = ThreadWaiter.block
        ThreadWaiter.block = lane
        var batch = Batch()
        // Once for the block: those who submit count its references too.
        let turn = Result<AnyObject, QueueSafeValueError>.success(owner)
        while true {
            let next = takeTurnBack(for: lane, block: block, &batch) ?? takeTurn(for: lane, block: block, &batch)
            let isOver =
                if let next { run(next, with: turn, of: lane, block: block, &batch) } else { !batch.isAwaited }
            batch.tellAll()
            if isOver { break }
            linger()
        }
        // First: what goes away may wait for the lane's next command.
        batch.task?.start()
        batch.removeAll()
        ThreadWaiter.block = outer
        withWaiters { $0.blockReturns(lane) }
    }
}

extension TurnQueue {
    /// Takes the turn for a lane whose block runs, if the front is in it, and takes that out of the line.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - block: The number of the block, which ends if this answers `nil`.
    ///   - batch: What the block has run.
    /// - Returns: The command to run, with the turn; `nil` if there is none, or if others are to be told first.
    private func takeTurn(for lane: Lane, block: UInt64, _ batch: inout Batch) -> Batch.Begun? {
        lookForTurn(spinning) { waiters, _, mayLookAgain in
            let parker = ThreadWaiter.known?.parker
            guard waiters.arrive(lane, block: block, on: TurnWord.currentThread, parker) else { return .some(nil) }
            let calls = lane.completionCalls.drain()
            if !calls.isEmpty {
                batch.tell { for call in calls { call.make() } }
                return .some(nil)
            }
            switch look(in: &waiters, for: lane, after: batch.count, mayLookAgain) {
            case .found(let next) where next.isAsync:
                lane.dispatch(at: now())
                batch.task = TaskBlock(owner: owner, lane: lane, command: next)
                return .some(nil)
            case .found(let next): return begin(next, of: lane, in: &waiters, &batch)
            case .again: return nil
            case .leave:
                waiters.leave(lane)
                return .some(nil)
            }
        }
    }

    /// Takes the turn for a task that is the block of a lane, if its command is the front, and takes that out of the
    /// line. The block is over then.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - block: The number of the block.
    ///   - command: The command of the task; `nil` for the only one of the lane.
    ///   - holder: Who is to have the turn.
    /// - Returns: The command that has the turn, to drop its work.
    func takeTurn(
        for lane: Lane,
        block: UInt64,
        of command: PendingCommand? = nil,
        as holder: UInt64
    ) -> PendingCommand? {
        lookForTurn(spinning) { waiters, _, mayLookAgain in
            var taken: PendingCommand?
            if waiters.arrive(lane, block: block, on: TurnWord.currentThread) {
                switch look(in: &waiters, for: lane, of: command, as: holder, mayLookAgain) {
                case .again: return nil
                case .found(let next):
                    lane.takesTurn()
                    next.leave(.started)
                    waiters.remove(next, of: lane)
                    taken = next
                case .leave: break
                }
                waiters.leave(lane)
            }
            waiters.blockReturns(lane)
            return .some(taken)
        }
    }

    /// A task does not wait any more.
    func end(_ lane: Lane) {
        withWaiters { $0.end(lane) }
    }

    private enum Look {
        case found(PendingCommand)
        case again
        case leave
    }

    /// A block of a lane that has arrived looks whether its next command has the turn.
    ///
    /// - Parameters:
    ///   - waiters: The line.
    ///   - lane: The lane.
    ///   - command: The command of a task, which no other is to run.
    ///   - holder: Who is to have the turn.
    ///   - count: How many commands the block has begun.
    ///   - mayLookAgain: Whether it may look again in a moment.
    /// - Returns: The command, which has the turn unless the block is to start a task for it; or whether to look again.
    private func look(
        in waiters: inout WaiterQueue,
        for lane: Lane,
        of command: PendingCommand? = nil,
        as holder: UInt64 = TurnWord.currentThread,
        after count: Int = 0,
        _ mayLookAgain: Bool
    ) -> Look {
        guard let next = waiters.next(for: lane), waiters.mayGoOn(after: count) else { return .leave }
        if let command, command !== next { return .leave }
        // A block that is to start a task leaves it to that to look for the turn.
        if next.isAsync && command == nil || claimTurn(in: waiters, for: holder) { return .found(next) }
        _ = waiters.successorLooks(next)
        if mayLookAgain, !waiters.isSuspended { return .again }
        // Behind a manual command that it has run itself it does not come in vain, nor if it was not waited for.
        if count == 0, !waiters.isSuspended, waiters.front === next { lane.missesTurn() }
        return .leave
    }

    private func begin(
        _ command: PendingCommand,
        of lane: Lane,
        in waiters: inout WaiterQueue,
        _ batch: inout Batch
    ) -> Batch.Begun {
        lane.takesTurn()
        command.leave(.started)
        waiters.remove(command, of: lane)
        let begun = batch.begin(command)
        waiters.grant(to: lane, after: command, batch.count)
        return begun
    }

    /// Takes a turn back that the block has freed to tell somebody, without the lock of the line.
    ///
    /// - Returns: The command to run, with the turn.
    private func takeTurnBack(for lane: Lane, block: UInt64, _ batch: inout Batch) -> Batch.Begun? {
        guard batch.count > 0, lane.grant.isNotEmpty(for: block) else { return nil }
        let seen = turn
        guard seen.isFree, seen.hasSuccessor,
            word.exchangeAcquiring(seen.bits, for: seen.held(by: TurnWord.currentThread).bits)
        else { return nil }
        if let command = batch.beginGranted(of: lane, block: block) { return command }
        // The grant was revoked meanwhile, so the lane may be the successor no more.
        freeTurn()
        return nil
    }

    /// Runs commands of a lane until the turn is given back, or detached.
    ///
    /// - Returns: Whether the block is over; otherwise it comes again.
    private func run(
        _ first: Batch.Begun,
        with turn: Result<AnyObject, QueueSafeValueError>,
        of lane: Lane,
        block: UInt64,
        _ batch: inout Batch
    ) -> Bool {
        var command = first
        while true {
            guard case .complete(let isChange, let tell) = command.run(turn) else {
                // The lane has the turn no more, and what comes next may take long.
                update { waiters, _ in
                    let thread = TurnWord.currentThread
                    if waiters.arrive(lane, block: block, on: thread) { waiters.pause(lane, on: thread) }
                }
                return false
            }
            if isChange, self.turn.isObserved, let delivery = owner.recordChange() { batch.append(delivery) }
            if let tell { batch.tell(tell) }
            switch takeNext(of: lane, block: block, &batch) {
            case .command(let next): command = next
            case .pause: return false
            case .leave: return true
            }
        }
    }

    private enum Next {
        case command(Batch.Begun)
        case pause
        case leave
    }

    /// Keeps the turn for the lane's next command if that is the front, else gives it back.
    ///
    /// If somebody is to be told of the last command, or nothing waits, the block comes again, and counts as on its
    /// way.
    private func takeNext(of lane: Lane, block: UInt64, _ batch: inout Batch) -> Next {
        let isAwaited = batch.isAwaited
        if !isAwaited, let next = batch.beginGranted(of: lane, block: block) { return .command(next) }
        if isAwaited, freeTurn(for: lane, block: block) { return .pause }
        return update { waiters, effects in
            let mayGoOn = waiters.mayGoOn(after: batch.count)
            let next = mayGoOn && !isAwaited && !waiters.isSuspended ? waiters.next(for: lane) : nil
            if let next, !next.isAsync { return .command(begin(next, of: lane, in: &waiters, &batch)) }
            effects.nextHolder = 0
            let pauses = isAwaited || next != nil || mayGoOn && waiters.front == nil
            if pauses { waiters.pause(lane, on: TurnWord.currentThread) } else { waiters.leave(lane) }
            return pauses ? .pause : .leave
        }
    }

    /// Frees the turn of a lane that is its own successor and has a grant, without the lock of the line.
    private func freeTurn(for lane: Lane, block: UInt64) -> Bool {
        if !turn.hasSuccessor || !lane.grant.isNotEmpty(for: block) { return false }
        lane.freesTurn(at: now())
        while true {
            let seen = turn
            if !seen.hasSuccessor { return false }
            if word.exchangeReleasing(seen.bits, for: seen.held(by: 0).bits) { return true }
        }
    }

    /// Looks for a moment, without the turn, whether another command comes: to dispatch a block costs far more than
    /// that.
    private func linger() {
        if turn.waiting != 0 { return }
        var backoff = spinning
        while turn.waiting == 0, backoff.pause() {}
        // It seldom comes alone, and each time that the line is looked at holds up those who submit.
        for _ in 0..<200 { pauseSpinning() }
    }
}
