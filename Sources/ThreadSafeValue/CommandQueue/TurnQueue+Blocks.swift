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
        var run = BlockRun(turns: self, lane: lane, block: block, thread: thread.identity)
        while run.takeTurn() {
            run.runCommands()
            run.pauseForMore()
        }
        thread.blocks.removeLast()
        // A listener may wait for a turn that this block was handed, and did not need.
        tellListenersThatBegin()
    }

    /// A manual command is complete, on whatever thread.
    fileprivate func complete(_ command: PendingCommand, _ completed: PendingCommand.Completed) {
        command.finish(completed)
        giveTurnBack(afterChange: completed.isChange)
        command.resumeAwaiting()
        guard let tell = completed.tell else { return command.dropWork() }
        // What is told goes away there, and not on the thread that completes the command.
        nonisolated(unsafe) let (told, ended) = (tell, command)
        command.lane.target.async {
            unsafe told()
            unsafe ended.dropWork()
        }
    }
}

/// One run of a lane's block.
private struct BlockRun {
    let turns: TurnQueue
    let lane: Lane
    let block: Int
    let thread: UInt64

    private var hasTurn = false

    /// The command that begins next: it has left the state `waiting`.
    private var current: PendingCommand?

    /// How many commands have begun since the turn was taken from others, and in all.
    private var count = 0
    private var total = 0

    /// Whether commands that wait for a change are to stand in line.
    private var hasChanged = false

    /// Commands that are over, to let go of without the turn.
    private var over: [PendingCommand] = []

    /// What to call without the turn.
    private var tells: [() -> Void] = []

    /// The turn word while nothing but the lane stands in line, with the priority of its batch.
    private var alone = TurnWord(bits: 0)

    init(turns: TurnQueue, lane: Lane, block: Int, thread: UInt64) {
        self.turns = turns
        self.lane = lane
        self.block = block
        self.thread = thread
    }
}

extension BlockRun {
    /// Takes the turn: the block was handed it, or looks for it for a moment. Otherwise the lane is handed it later.
    ///
    /// - Returns: Whether the block has the turn. If not, it is over.
    mutating func takeTurn() -> Bool {
        var backoff = Backoff.beforeParking
        while true {
            let (isOver, nextBlock) = turns.update { line, holder -> (Bool, TurnQueue.Sent?) in
                guard lane.block == block else { return (true, nil) }
                (lane.sentTime, lane.isLate) = (0, false)
                if lane.hasTurn {
                    lane.hasTurn = false
                    // While the value is suspended, no command begins that has not.
                    hasTurn = line.suspensions == 0
                    holder = hasTurn ? thread : 0
                } else {
                    if !lane.isInLine { line.place(lane) }
                    if total >= HandoffPolicy.batch, !lane.isEmpty {
                        lane.isSent = true
                        return (true, turns.startBlock(lane))
                    }
                    hasTurn = turns.takeTurn(line, for: lane, as: thread)
                }
                if hasTurn {
                    lane.patience = HandoffPolicy.late
                    lane.isSent = true
                    begin(&line)
                    return (false, nil)
                }
                if !lane.isEmpty, !backoff.isOver { return (false, nil) }
                lane.hasBlock = false
                if lane.isEmpty { line.lanes.removeIfIdle(lane) } else { lane.cameInVain() }
                return (true, nil)
            }
            nextBlock?.start()
            if hasTurn || isOver { return hasTurn }
            while backoff.pause(), !turns.turn.isFree {}
        }
    }

    /// Takes the next commands of the lane, and claims the first. Under the lock, with the turn.
    private mutating func begin(_ line: inout Line) {
        lane.takeBatch()
        current = lane.claimNext()
        alone = TurnWord.alone(lane.priority).held(by: thread)
        turns.watch(&line)
    }

    /// Runs commands with the turn until there is a reason to give it back.
    mutating func runCommands() {
        while hasTurn {
            guard let command = current.take() ?? claimAlone() else {
                giveBackOrGoOn()
                continue
            }
            run(command)
            if hasTurn, !tells.isEmpty, count == HandoffPolicy.batch || !tellAlone() { giveBackOrGoOn() }
        }
        letGo()
    }

    /// Claims the next command without the lock, while nothing but the lane stands in line.
    ///
    /// The word is looked at after the claim: what has changed the line before may have seen the command waiting, and
    /// what changes it after that does not.
    private func claimAlone() -> PendingCommand? {
        guard count < HandoffPolicy.batch, let command = lane.claimNext() else { return nil }
        if turns.word.exchange(alone.bits, for: alone.bits) { return command }
        lane.unclaim(command)
        return nil
    }

    private mutating func run(_ command: PendingCommand) {
        (count, total) = (count + 1, total + 1)
        turns.startedCount(command.priority).increment()
        switch command.run(.success(turns.storage)) {
        case .complete(let completed):
            if turns.turn.isObserved {
                hasChanged = hasChanged || completed.isChange
                if let delivery = turns.recordChange(completed.isChange) { tells.append(delivery.deliver) }
            }
            command.finish(completed)
            over.append(command)
            if let tell = completed.tell { tells.append(tell) }
            if command.isAwaited { tells.append(command.resumeAwaiting) }
        case .detached(let start):
            turns.update { line, holder in
                lane.putBatchBack()
                line.place(lane)
                holder = TurnWord.detached
            }
            hasTurn = false
            start { [turns] completed in turns.complete(command, completed) }
        }
    }

    /// Frees the turn without the lock, tells callers, and takes the turn back, while nothing but the lane stands in
    /// line.
    ///
    /// - Returns: Whether it has freed the turn, and may have it again.
    private mutating func tellAlone() -> Bool {
        let free = alone.held(by: 0).bits
        guard turns.word.exchangeReleasing(alone.bits, for: free) else { return false }
        let begun = count
        letGo()
        count = begun
        hasTurn = turns.word.exchangeAcquiring(free, for: alone.bits)
        if hasTurn, lane.block == block, !lane.isLate { return true }
        turns.update { line, holder in
            if hasTurn { holder = 0 }
            hasTurn = false
            // Another block has taken over.
            guard lane.block == block else { return }
            lane.isLate = false
            lane.putBatchBack()
            line.place(lane)
        }
        return true
    }

    /// Looks at the line: the block goes on if its lane is the front and nobody is to be told, or frees the turn.
    private mutating func giveBackOrGoOn() {
        turns.update { line, holder in
            lane.putBatchBack()
            line.place(lane)
            if hasChanged { line.wakeWatchers() }
            hasChanged = false
            if tells.isEmpty, count < HandoffPolicy.batch, line.front === lane, line.suspensions == 0 { begin(&line) }
            if current != nil { return }
            holder = 0
            hasTurn = false
        }
        if !hasTurn { letGo() }
    }

    /// Lets go of commands that are over, and tells callers. Each may run any code.
    private mutating func letGo() {
        count = 0
        for command in over { tell { command.dropWork() } }
        over.removeAll(keepingCapacity: true)
        for call in tells { tell(call) }
        tells.removeAll(keepingCapacity: true)
    }

    private func tell(_ call: () -> Void) {
        lane.tells.increment()
        call()
        lane.tells.increment()
    }

    /// Waits a moment: a command seldom comes alone.
    func pauseForMore() {
        var backoff = Backoff(spins: 200)
        while turns.turn.isLineEmpty, backoff.pause() {}
        let seen = turns.turn
        guard !seen.isLineEmpty, !seen.isCrowd else { return }
        backoff = Backoff(spins: 100)
        while backoff.pause() {}
    }
}
