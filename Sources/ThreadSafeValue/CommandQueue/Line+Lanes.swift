//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

// The commands for target queues: how they come in, how blocks take them (rule 6), and how they are cancelled.

extension Line {
    /// Puts a command in line for its target queue.
    ///
    /// - Returns: Its lane; `nil` if too many commands wait.
    mutating func accept(_ command: PendingCommand, for target: DispatchQueue, of turns: TurnQueue) -> Lane? {
        if isFull { return nil }
        acceptedCount += 1
        let lane = lane(for: target, of: turns)
        command.members.arrival = nextArrival()
        lane.commands.append(command)
        let place = (command.priority, command.members.arrival)
        switch lane.state.standing {
        // A lane in line may have a batch, so only its place changes.
        // fault: rule 1: a lane does not move up
        case .inLine: isUnchanged = place.0 <= lane.state.priority || !moveUp(lane, to: place)
        // A late lane gets its place when its block arrives.
        case .late: isUnchanged = true
        default: reinsert(lane)
        }
        return lane
    }

    /// A block looks for the turn. With the turn, it takes a batch; without, it may look again.
    ///
    /// - Returns: `nil` if the block is over.
    mutating func arrive(_ run: BlockRun, isLastLook: Bool) -> WaitEnd? {
        let lane = run.lane
        guard lane.running === run else { return nil }  // fault: rule 6: replaced, it goes on
        if run.count >= HandoffPolicy.batch, !lane.commands.isEmpty {  // fault: rule 6: its block goes on
            replaceBlock(lane)
            return nil
        }
        if arrive(lane, as: run.thread) {
            begin(run)
            return .hasTurn
        }
        if !isLastLook, front === lane || front?.kind == .thread || second === lane { return .mayTry }
        (lane.running, lane.state.needsNoWake) = (nil, false)
        oweAfterComingInVain(lane)
        removeIfIdle(lane)
        return nil
    }

    /// A block with the turn takes the next commands of its lane, which is the front.
    private mutating func begin(_ run: BlockRun) {
        run.hasTurn = true
        run.takeBatch(before: arrivalOfSecond(run.lane.state.priority), reorderings.count)
        run.word = TurnWord(holder: run.thread, of: self)
    }

    /// A block with the turn gives its batch back. It goes on if its lane is the front and nobody is to be told, or frees
    /// the turn.
    mutating func goOnOrRelease(_ run: BlockRun) {
        run.putBatchBack()
        reinsert(run.lane)
        if run.hasChanged { wakeWatchers() }  // fault: a block's change wakes no condition
        run.hasChanged = false
        // fault: rule 7: it goes on while suspended
        let mayGoOn = !run.isToTell && run.count < HandoffPolicy.batch && suspensions == 0
        if mayGoOn, front === run.lane { return begin(run) }
        release(run, to: 0)
    }

    /// A block without a batch gives the turn to nobody, or to a manual command, if it has the turn.
    mutating func release(_ run: BlockRun, to holder: UInt64?) {
        self.holder = holder
        run.hasTurn = false
    }

    /// A block has told callers. It asked for the turn again, and has it or not.
    mutating func returnFromTelling(_ run: BlockRun) {
        release(run, to: run.hasTurn ? 0 : nil)
        guard run.lane.running === run else { return }
        run.putBatchBack()
        reinsert(run.lane)
    }

    /// Cancels all commands that wait.
    ///
    /// - Parameter priority: Of which priority; `nil` for all.
    /// - Returns: How many threads and tasks, and the commands of each lane.
    mutating func cancelAll(_ priority: CommandPriority?) -> (callerCount: Int, commands: [(Lane, [PendingCommand])]) {
        let callers = callers(priority)
        for waiter in callers { refuse(waiter, .cancelled) }
        let commands = lanes.values.map { ($0, $0.endAll(priority, as: .cancelled)) }
        for (lane, ended) in commands where !ended.isEmpty {
            acceptedCount -= ended.count
            reinsertAfterCancelling(lane)
        }
        return (callers.count, commands)
    }

    /// Takes one command out, unless it has begun.
    ///
    /// - Returns: Whether this call did.
    mutating func cancel(_ command: PendingCommand, of lane: Lane) -> Bool {
        guard command.endBeforeItBegins(as: .cancelled) else { return false }
        acceptedCount -= 1  // fault: cancelled, it is counted
        lane.commands.noteCancelled()
        if lane.state.arrival == command.members.arrival { reinsertAfterCancelling(lane) }
        return true
    }

    /// Changes the priority of a command that waits.
    ///
    /// - Returns: Whether it did.
    mutating func changePriority(
        of command: PendingCommand,
        in lane: Lane,
        to priority: CommandPriority
    ) -> Bool {
        let (wasFirst, old) = (lane.state.arrival == command.members.arrival, command.priority)
        if old == priority { return command.isPending }
        guard command.setPriority(priority) else { return false }
        lane.commands.notePriorityChanged(of: command, from: old, hasBatch: lane.hasBatch)
        // A block with a batch looks at the line before it goes on.
        reorderings.note()  // fault: its block sees no new priority
        guard lane.state.standing == .inLine else { return true }
        // Only the first command of a lane moves that back, so a burst of changes sorts the commands once.
        if wasFirst, priority < lane.state.priority, !lane.hasBatch { reinsert(lane) }
        moveUp(lane, to: (priority, command.members.arrival))  // fault: its lane keeps the old place
        return true
    }

    /// Some of the lane's commands were cancelled, perhaps its first or its last one.
    private mutating func reinsertAfterCancelling(_ lane: Lane) {
        // A block with a batch keeps the place of that.
        guard lane.state.standing == .inLine, !lane.hasBatch else { return }
        let arrival = lane.state.arrival
        reinsert(lane)
        // A turn that was owed for a cancelled command is owed no more.
        if lane.state.standing != .inLine || lane.state.arrival != arrival { lane.state.isOwed = false }
        removeIfIdle(lane)
    }
}
