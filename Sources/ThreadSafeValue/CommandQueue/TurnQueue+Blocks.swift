//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

// The block of a lane runs on the lane's target queue. With the turn it runs the commands of the lane while they are
// the front, and tells callers without the turn (rule 6).

extension TurnQueue {
    /// A block, for which the value was retained, runs on its queue.
    func run(_ run: BlockRun) {
        let thread = ThreadWaiter.current
        thread.blocks.append(run)
        run.thread = thread.identity
        while takeTurn(run) {
            runCommands(run)
            // After one command, other work of the queue may wait for this thread.
            if run.count > 1 { waitForMore() }
        }
        thread.blocks.removeLast()
        // It was retained for this block.
        unsafe Unmanaged<AnyObject>.passUnretained(owner).release()
    }

    /// Takes the turn, and looks for it for a moment. Otherwise the lane is sent for again.
    ///
    /// - Returns: Whether the block has the turn. If not, it is over.
    private func takeTurn(_ run: BlockRun) -> Bool {
        var looks = HandoffPolicy.looksInLine
        while let end = update({ $0.arrive(run, isLastLook: looks <= 1) }) {
            if case .hasTurn = end { return true }
            repeat {
                for _ in 0..<HandoffPolicy.pausesInLine { pauseSpinning() }
                looks -= 1
            } while looks > 1 && !turn.isFree
        }
        return false
    }

    /// Runs commands with the turn until there is a reason to give it back.
    private func runCommands(_ run: BlockRun) {
        while run.hasTurn {
            if let command = unsafe run.claimNext(self) {
                unsafe command._withUnsafeGuaranteedRef { self.run($0, run) }
                if !run.hasTurn || !run.isToTell && !run.hasChanged { continue }  // fault: rule 6: told after the batch
                // Without more commands the lane leaves the line first, so that a caller that is told finds the turn
                // free. After a change, the waiters for a change enter the line first.
                if run.hasMore, !run.hasChanged, tellAndGoOn(run) { continue }
            }
            update { $0.goOnOrRelease(run) }
        }
        run.tell()
        run.forget()
    }

    private func run(_ command: PendingCommand, _ run: BlockRun) {
        unsafe schedulingPoint("command of", owner, word.storage, waits: false)
        run.count += 1
        startedCount.increment()
        var ending = unsafe command.run(Unmanaged.passUnretained(owner))
        if ending.detach != nil { return detach(command, run, ending) }
        if ending.isChange, turn.isObserved {
            run.hasChanged = true
            if let delivery = unsafe owner.recordChange() { run.deliveries.append(delivery) }
        }
        command.finish(ending.answer.take())  // fault: rule 6: captures end with the turn
        run.isOver(command)
        run.isToTell = run.isToTell || ending.tells || command.isAwaited || !run.deliveries.isEmpty
    }

    /// Frees the turn without the lock, tells callers, and takes the turn back, while nothing in line has changed.
    ///
    /// - Returns: Whether it has freed the turn, and may have it again.
    private func tellAndGoOn(_ run: BlockRun) -> Bool {
        let free = run.word.held(by: 0).bits
        // fault: rule 6: with the turn it tells
        guard word.exchangeReleasing(run.word.bits, for: free) else { return false }
        run.tell()
        run.hasTurn = word.exchangeAcquiring(free, for: run.word.bits)
        if !run.hasTurn || run.isReplaced { update { $0.returnFromTelling(run) } }
        return true
    }

    /// The closure of a manual command has returned before the command is complete: the command keeps the turn.
    private func detach(_ command: PendingCommand, _ run: BlockRun, _ ending: CommandEnding) {
        update { line in
            run.putBatchBack()
            line.reinsert(run.lane)
            line.release(run, to: TurnWord.detached)  // fault: a manual command ends early
        }
        let ended = AcceptedCommand(command: command, lane: run.lane)
        // The closure keeps the value. It must not keep the ending, which keeps it.
        unsafe ending.detach! { [owner, isChange = ending.isChange, tells = ending.tells] failure in
            withExtendedLifetime(owner) { self.complete(ended, isChange: isChange, tells: tells, failure) }
        }
    }

    /// A manual command is complete, on whatever thread.
    private func complete(_ ended: AcceptedCommand, isChange: Bool, tells: Bool, _ failure: QueueSafeValueError?) {
        if let failure { ended.command.fail(failure) }
        ended.command.finish(failure.map { CommandAnswer<Void>(.failure($0)) })
        // fault: done: told with the turn
        unsafe releaseTurn(afterChange: isChange, andFirst: tells ? .tell(ended) : nil, owner.recordChange)?.perform()
        failure?.reported(for: valueType, "a command with `done`")
        if !tells { ended.command.releaseAndNotify(ended.lane) }
    }

    /// Waits a moment for the next command, as more than one has come.
    private func waitForMore() {
        // On virtual time nothing changes meanwhile.
        if schedulerTime() != nil { return }
        for _ in 0..<HandoffPolicy.looksForMore where turn.isLineEmpty {
            for _ in 0..<HandoffPolicy.pausesForMore { pauseSpinning() }
        }
        let seen = turn
        guard !seen.isLineEmpty, !seen.isCrowd else { return }
        for _ in 0..<HandoffPolicy.pausesForBatch { pauseSpinning() }
    }
}
