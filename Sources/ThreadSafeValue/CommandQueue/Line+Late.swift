//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Rule 5: a block or a task that does not come in time loses its place until it arrives.

extension Line {
    /// Sets the timer, if something stands in line beside a lane or a task that was sent for, or commands behind a block
    /// that runs.
    mutating func setTimerIfNeeded() {
        guard !timerRuns, suspensions == 0, let front, front.kind != .thread, front.state.needsNoWake else { return }
        let isBlockHere = front.kind == .queue && front.state.dueTime == .max
        guard isBlockHere || waiters.elements.count > 1 else { return }
        timerRuns = true
        actions.append(.look(at: min(front.state.dueTime, now() + HandoffPolicy.late)))
    }

    /// The time of the timer has come.
    mutating func look() {
        timerRuns = false
        if isOver { return }
        passLate()
        replaceLongTelling()  // fault: rule 6: told slowly, not replaced
    }

    /// Takes each late front out of line until it arrives. If one was late, all other lanes and tasks are sent for at
    /// once, so that their delays overlap.
    mutating func passLate() {
        guard suspensions == 0, let first = front, first.state.dueTime != .max else { return }
        let (time, count) = (now(), waiters.elements.count)
        while let front, time >= front.state.dueTime {  // fault: rule 5: nothing is late
            if let lane = front.lane { noteStanding(lane) }
            makeLate(front)
        }
        if waiters.elements.count == count { return }
        // fault: rule 5: one late at a time
        for waiter in waiters.elements where waiter.kind != .thread && !waiter.state.needsNoWake { send(for: waiter) }
    }

    /// A late waiter arrives, and returns to its place.
    mutating func returnToLine(_ waiter: Waiter) {
        waiter.state.patience.noteDelay(now() - waiter.state.sentTime)
        reinsert(waiter)
        reorderings.note()
    }

    // A thread that waits on a queue stands in that queue's way: the lane may come only after it. A queue whose lane was
    // late twice while a thread of it waits is supposed to run one block at a time. A busy machine makes a concurrent
    // queue late too, so now and then the thread waits for the lane all the same.

    private mutating func noteStanding(_ lane: Lane) {
        if let own = own(of: lane) {
            own.passes.store(HandoffPolicy.passes)
        } else {
            actions.append(.mark(lane.target))
        }
    }

    /// Does not wait for a lane that comes only after a thread in line.
    ///
    /// - Returns: Whether the lane is late now.
    @discardableResult mutating func passIfStanding(_ lane: Lane?) -> Bool {
        guard let lane, lane.state.standing == .inLine, let own = own(of: lane) else { return false }
        let passes = own.passes.load()
        // A block that has begun runs below a thread that waits, or on another thread.
        if passes == 0 || lane.state.needsNoWake && lane.state.dueTime == .max { return false }
        own.passes.store(passes - 1)  // fault: rule 5: own writes stay unseen
        makeLate(lane)
        if !lane.state.needsNoWake { startBlock(lane) }
        return true
    }

    /// Rule 6: a block of the front that is there, and leaves the turn free, tells callers. Another block does the rest.
    private mutating func replaceLongTelling() {
        guard let lane = front?.lane, lane.state.needsNoWake, lane.state.dueTime == .max else { return }
        // With the turn, as the block takes that without the lock.
        guard takeTurn(for: lane, as: TurnWord.detached) else { return }
        holder = 0
        replaceBlock(lane)
    }
}
