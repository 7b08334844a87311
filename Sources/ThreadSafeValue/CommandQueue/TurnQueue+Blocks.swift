//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

// The block of a lane runs on the lane's target queue. With the turn it runs the commands of the lane while they are
// the front, and tells callers without the turn (rule 6).

extension TurnQueue {
    /// What the block with this number does.
    func run(_ lane: Lane, block: Int) {
        let thread = ThreadWaiter.current
        thread.blocks.append((lane, block))
        var run = BlockRun(block: block, thread: thread.identity)
        while takeTurn(lane, &run) {
            runCommands(lane, &run)
            pauseForMore()
        }
        thread.blocks.removeLast()
        // It was retained for this block.
        unsafe Unmanaged<AnyObject>.passUnretained(owner).release()
    }

    /// A manual command is complete, on whatever thread.
    private func complete(_ command: PendingCommand, of lane: Lane, _ ending: CommandEnding) {
        command.finish(ending)
        // What is told goes away there, and not on the thread that completes the command.
        if ending.tell != nil { lane.target.async { command.letGo(lane) } }
        giveTurnBack(afterChange: ending.isChange)
        ending.failure?.reported(for: valueType, "a command with `done`")
        if ending.tell == nil { command.letGo(lane) }
    }

    /// Takes the turn: the block was handed it, or looks for it for a moment. Otherwise the lane is handed it later.
    ///
    /// - Returns: Whether the block has the turn. If not, it is over.
    private func takeTurn(_ lane: Lane, _ run: inout BlockRun) -> Bool {
        var (backoff, priority) = (Backoff.beforeParking, CommandPriority.lowest)
        while true {
            let isOver = update { line -> Bool in
                guard lane.block == run.block else { return true }
                if run.count >= HandoffPolicy.batch, !lane.isEmpty {
                    replaceBlock(of: lane, &line)
                    return true
                }
                lane.tells = run.tells
                let wasHanded = wasHanded(lane)
                run.hasTurn = comes(lane, &line, as: run.thread)
                priority = lane.state.priority
                if wasHanded {
                    // While the value is suspended, no command begins that has not.
                    run.hasTurn = line.suspensions == 0
                    line.effects.holder = run.hasTurn ? run.thread : 0
                }
                if run.hasTurn { begin(lane, &run, &line) }
                if run.hasTurn || !lane.isEmpty && !backoff.isOver { return false }
                (lane.state.isSent, lane.tells) = (false, nil)
                if lane.isEmpty { line.removeIfIdle(lane) } else { lane.cameInVain() }
                return true
            }
            if run.hasTurn || isOver { return run.hasTurn }
            while backoff.pause(), !turn.mayBeTaken(byFront: priority) {}
        }
    }

    /// Takes the next commands of the lane, and claims the first. Under the lock, with the turn.
    private func begin(_ lane: Lane, _ run: inout BlockRun, _ line: inout Line) {
        (lane.state.patience, lane.state.isOwed) = (HandoffPolicy.late, false)
        lane.batch = unsafe lane.commands.takeBatch()
        run.spent.append(run.batch)
        (run.batch, run.next) = (lane.batch, 0)
        run.current = run.claimNext()
        run.alone = TurnWord.alone(lane.state.priority).held(by: run.thread)
    }

    /// Runs commands with the turn until there is a reason to give it back.
    private func runCommands(_ lane: Lane, _ run: inout BlockRun) {
        while run.hasTurn {
            if let command = run.current.take() ?? claimAlone(&run) {
                self.run(command, of: lane, &run)
                if !run.hasTurn || !run.isToTell { continue }
                // Without more commands the lane leaves the line first, so that a caller that is told finds the turn
                // free.
                let hasMore = run.next < run.batch.count && run.count < HandoffPolicy.batch
                if hasMore, tellAlone(lane, &run) { continue }
            }
            giveBackOrGoOn(lane, &run)
        }
        letGo(lane, &run)
    }

    /// Claims the next command without the lock, while nothing but the lane stands in line.
    ///
    /// The word is looked at after the claim: what has changed the line before may have seen the command waiting, and
    /// what changes it after that does not.
    private func claimAlone(_ run: inout BlockRun) -> PendingCommand? {
        guard run.count < HandoffPolicy.batch, let command = run.claimNext() else { return nil }
        if word.exchange(run.alone.bits, for: run.alone.bits) { return command }
        _ = command.move(.running, to: .waiting)
        run.next -= 1
        return nil
    }

    private func run(_ command: PendingCommand, of lane: Lane, _ run: inout BlockRun) {
        unsafe schedulingPoint("command of", owner, word.storage, waits: false)
        run.count += 1
        startedCount.increment()
        let ending = unsafe Unmanaged<AnyObject>.passUnretained(owner)._withUnsafeGuaranteedRef { command.run($0) }
        if let detach = ending.detach {
            update { line in
                lane.putBatchBack(from: run.next)
                line.place(lane)
                line.effects.holder = TurnWord.detached
            }
            run.hasTurn = false
            // What the closure captured may keep `done`, which would never be found to be dropped.
            unsafe command.work = nil
            // It keeps the value.
            return unsafe detach { [owner] ending in
                withExtendedLifetime(owner) { self.complete(command, of: lane, ending) }
            }
        }
        if ending.isChange, turn.isObserved {
            run.hasChanged = true
            if let delivery = unsafe owner.recordChange() { run.deliveries.append(delivery) }
        }
        command.finish(ending)
        run.over.append(command)
        run.isToTell = run.isToTell || ending.tell != nil || command.isAwaited || !run.deliveries.isEmpty
    }

    /// Frees the turn without the lock, tells callers, and takes the turn back, while nothing but the lane stands in
    /// line.
    ///
    /// - Returns: Whether it has freed the turn, and may have it again.
    private func tellAlone(_ lane: Lane, _ run: inout BlockRun) -> Bool {
        let free = run.alone.held(by: 0).bits
        guard word.exchangeReleasing(run.alone.bits, for: free) else { return false }
        letGo(lane, &run)
        run.hasTurn = word.exchangeAcquiring(free, for: run.alone.bits)
        if run.hasTurn, !run.tells.isReplaced { return true }
        update { line in
            if run.hasTurn { line.effects.holder = 0 }
            run.hasTurn = false
            if run.tells.isReplaced { return }
            lane.putBatchBack(from: run.next)
            line.place(lane)
        }
        return true
    }

    /// Looks at the line: the block goes on if its lane is the front and nobody is to be told, or frees the turn.
    private func giveBackOrGoOn(_ lane: Lane, _ run: inout BlockRun) {
        update { line in
            lane.putBatchBack(from: run.next)
            line.place(lane)
            if run.hasChanged { line.wakeWatchers() }
            run.hasChanged = false
            let mayGoOn = !run.isToTell && run.count < HandoffPolicy.batch && line.suspensions == 0
            if mayGoOn, line.front === lane { return begin(lane, &run, &line) }
            line.effects.holder = 0
            run.hasTurn = false
        }
    }

    /// Lets go of commands that are over, and tells callers. Each may run any code.
    private func letGo(_ lane: Lane, _ run: inout BlockRun) {
        run.isToTell = false
        // Listeners first: a completion may wait for one. What a buffer pushes out goes away last: it may wait for one.
        for delivery in run.deliveries { delivery.perform() }
        while let command = run.over.removeFirst() {
            run.tells.word.increment()
            command.letGo(lane)
            run.tells.word.increment()
        }
        (run.deliveries, run.spent) = ([], [])
    }

    /// Waits a moment: a command seldom comes alone.
    private func pauseForMore() {
        for _ in 0..<100 where turn.isLineEmpty {
            for _ in 0..<4 { pauseSpinning() }
        }
        let seen = turn
        guard !seen.isLineEmpty, !seen.isCrowd else { return }
        for _ in 0..<150 { pauseSpinning() }
    }
}

/// One run of a lane's block.
private struct BlockRun {
    let block: Int
    let thread: UInt64

    let tells = TellCount()

    var hasTurn = false

    /// The commands that it may begin, and which of them is next.
    var batch: [PendingCommand] = []
    var next = 0

    /// The command that begins now: it has left the state `waiting`.
    var current: PendingCommand?

    /// How many commands have begun.
    var count = 0

    /// Whether commands that wait for a change are to stand in line.
    var hasChanged = false

    /// Earlier batches. What the closure of a command returned may go away with it, and run any code: so without the
    /// turn.
    var spent: [[PendingCommand]] = []

    /// Commands that are over, to let go of without the turn.
    var over = LinkedFIFO<PendingCommand>()

    /// What tells listeners without the turn.
    var deliveries: [Effect] = []

    /// Whether the turn is to be freed before the next command, as somebody is to be told.
    var isToTell = false

    /// The turn word while nothing but the lane stands in line, with the priority of its batch.
    var alone = TurnWord(bits: 0)

    /// The block is about to begin the next command of its batch that waits. With the turn.
    mutating func claimNext() -> PendingCommand? {
        while next < batch.count {
            let command = batch[next]
            next += 1
            if command.move(.waiting, to: .running) { return command }
        }
        return nil
    }
}
