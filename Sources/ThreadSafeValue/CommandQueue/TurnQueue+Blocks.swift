//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

// The block of a lane runs on the lane's target queue. With the turn it runs the commands of the lane while they are the
// front, and tells callers without the turn (rule 6).

extension TurnQueue {
    /// What the block with this number does.
    func run(_ lane: Lane, block: Int) {
        let thread = ThreadWaiter.current
        thread.blocks.append(lane)
        var run = BlockRun(block: block, thread: thread.identity)
        while takeTurn(lane, &run) {
            runCommands(lane, &run)
            pauseForMore()
        }
        thread.blocks.removeLast()
        // A listener may wait for a turn that this block was handed, and did not need.
        tellListenersThatBegin()
    }

    /// A manual command is complete, on whatever thread.
    private func complete(_ command: PendingCommand, of lane: Lane, _ completed: PendingCommand.Completed) {
        command.finish(completed)
        giveTurnBack(afterChange: completed.isChange)
        // What is told goes away there, and not on the thread that completes the command.
        if completed.tell == nil { command.letGo(lane) } else { lane.target.async { command.letGo(lane) } }
    }
}

/// One run of a lane's block.
private struct BlockRun {
    let block: Int
    let thread: UInt64

    var hasTurn = false

    /// The command that begins next: it has left the state `waiting`.
    var current: PendingCommand?

    /// How many commands have begun since the turn was taken from others, and in all.
    var count = 0
    var total = 0

    /// Whether commands that wait for a change are to stand in line.
    var hasChanged = false

    /// Commands that are over, to let go of without the turn.
    var over = CommandFIFO()

    /// What tells listeners without the turn.
    var deliveries: [Effect] = []

    /// Whether the turn is to be freed before the next command, as somebody is to be told.
    var isToTell = false

    /// The turn word while nothing but the lane stands in line, with the priority of its batch.
    var alone = TurnWord(bits: 0)

    init(block: Int, thread: UInt64) {
        self.block = block
        self.thread = thread
    }
}

extension TurnQueue {
    /// Takes the turn: the block was handed it, or looks for it for a moment. Otherwise the lane is handed it later.
    ///
    /// - Returns: Whether the block has the turn. If not, it is over.
    private func takeTurn(_ lane: Lane, _ run: inout BlockRun) -> Bool {
        var backoff = Backoff.beforeParking
        while true {
            let (isOver, nextBlock) = update { line, holder -> (Bool, TurnQueue.Sent?) in
                guard lane.block == run.block else { return (true, nil) }
                (lane.state.sentTime, lane.state.isLate) = (0, false)
                if lane.hasTurn {
                    lane.hasTurn = false
                    // While the value is suspended, no command begins that has not.
                    run.hasTurn = line.suspensions == 0
                    holder = run.hasTurn ? run.thread : 0
                } else {
                    if !lane.isInLine { line.place(lane) }
                    if run.total >= HandoffPolicy.batch, !lane.commands.isEmpty {
                        lane.state.isSent = true
                        return (true, startBlock(lane))
                    }
                    run.hasTurn = takeTurn(line, for: lane, as: run.thread)
                }
                if run.hasTurn {
                    lane.state.patience = HandoffPolicy.late
                    lane.state.isSent = true
                    begin(lane, &run, &line)
                    return (false, nil)
                }
                if !lane.commands.isEmpty, !backoff.isOver { return (false, nil) }
                lane.hasBlock = false
                if lane.commands.isEmpty { line.lanes.removeIfIdle(lane) } else { lane.cameInVain() }
                return (true, nil)
            }
            nextBlock?.start()
            if run.hasTurn || isOver { return run.hasTurn }
            while backoff.pause(), !turn.isFree {}
        }
    }

    /// Takes the next commands of the lane, and claims the first. Under the lock, with the turn.
    private func begin(_ lane: Lane, _ run: inout BlockRun, _ line: inout Line) {
        lane.commands.takeBatch()
        run.current = lane.commands.claimNext()
        run.alone = TurnWord.alone(lane.priority).held(by: run.thread)
        watch(&line)
    }

    /// Runs commands with the turn until there is a reason to give it back.
    private func runCommands(_ lane: Lane, _ run: inout BlockRun) {
        while run.hasTurn {
            guard let command = run.current.take() ?? claimAlone(lane, run) else {
                giveBackOrGoOn(lane, &run)
                continue
            }
            self.run(command, of: lane, &run)
            if run.hasTurn, run.isToTell, run.count == HandoffPolicy.batch || !tellAlone(lane, &run) { giveBackOrGoOn(lane, &run) }
        }
        letGo(lane, &run)
    }

    /// Claims the next command without the lock, while nothing but the lane stands in line.
    ///
    /// The word is looked at after the claim: what has changed the line before may have seen the command waiting, and
    /// what changes it after that does not.
    private func claimAlone(_ lane: Lane, _ run: borrowing BlockRun) -> PendingCommand? {
        guard run.count < HandoffPolicy.batch, let command = lane.commands.claimNext() else { return nil }
        if word.exchange(run.alone.bits, for: run.alone.bits) { return command }
        lane.commands.unclaim(command)
        return nil
    }

    private func run(_ command: PendingCommand, of lane: Lane, _ run: inout BlockRun) {
        (run.count, run.total) = (run.count + 1, run.total + 1)
        startedCount(command.priority).increment()
        switch command.run(.success(storage)) {
        case .complete(let completed):
            if turn.isObserved {
                run.hasChanged = run.hasChanged || completed.isChange
                if let delivery = recordChange(completed.isChange) { run.deliveries.append(delivery) }
            }
            command.finish(completed)
            run.over.append(command)
            run.isToTell = run.isToTell || completed.tell != nil || command.isAwaited || !run.deliveries.isEmpty
        case .detached(let start):
            update { line, holder in
                lane.commands.putBatchBack()
                line.place(lane)
                holder = TurnWord.detached
            }
            run.hasTurn = false
            start { [self, lane] completed in complete(command, of: lane, completed) }
        }
    }

    /// Frees the turn without the lock, tells callers, and takes the turn back, while nothing but the lane stands in
    /// line.
    ///
    /// - Returns: Whether it has freed the turn, and may have it again.
    private func tellAlone(_ lane: Lane, _ run: inout BlockRun) -> Bool {
        let free = run.alone.held(by: 0).bits
        guard word.exchangeReleasing(run.alone.bits, for: free) else { return false }
        let begun = run.count
        letGo(lane, &run)
        run.count = begun
        run.hasTurn = word.exchangeAcquiring(free, for: run.alone.bits)
        if run.hasTurn, lane.block == run.block, !lane.state.isLate { return true }
        update { line, holder in
            if run.hasTurn { holder = 0 }
            run.hasTurn = false
            // Another block has taken over.
            guard lane.block == run.block else { return }
            lane.state.isLate = false
            lane.commands.putBatchBack()
            line.place(lane)
        }
        return true
    }

    /// Looks at the line: the block goes on if its lane is the front and nobody is to be told, or frees the turn.
    private func giveBackOrGoOn(_ lane: Lane, _ run: inout BlockRun) {
        update { line, holder in
            let hasMore = lane.commands.putBatchBack()
            line.place(lane)
            if run.hasChanged { line.wakeWatchers() }
            run.hasChanged = false
            if hasMore, !run.isToTell, run.count < HandoffPolicy.batch, line.front === lane, line.suspensions == 0 { begin(lane, &run, &line) }
            if run.current != nil { return }
            holder = 0
            run.hasTurn = false
        }
        if !run.hasTurn { letGo(lane, &run) }
    }

    /// Lets go of commands that are over, and tells callers. Each may run any code.
    private func letGo(_ lane: Lane, _ run: inout BlockRun) {
        (run.count, run.isToTell) = (0, false)
        while let command = run.over.removeFirst() {
            lane.tells.increment()
            command.letGo(lane)
            lane.tells.increment()
        }
        if run.deliveries.isEmpty { return }
        for delivery in run.deliveries { delivery.perform() }
        run.deliveries = []
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
