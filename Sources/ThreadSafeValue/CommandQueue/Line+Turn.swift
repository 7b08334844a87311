//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Rules 1 to 4, as far as they are under the lock: what takes the turn, and what is sent for when it is free.

extension Line {
    /// Ends each change of the line: says in the turn word what the line is, and sends for the front of a free turn.
    ///
    /// Invariant (true summary): without the lock, the word says what the line is.
    ///
    /// - Returns: What is to be done without the lock.
    mutating func publish() -> [Action] {
        if isUnchanged || isOver {
            isUnchanged = false
            return []
        }
        oweFrontIfDue()
        var turnIsFree = exchangeWord()
        while turnIsFree, passIfStanding(front?.lane) { turnIsFree = exchangeWord() }
        // fault: rule 3: nothing is sent for; rule 3: sent for twice; rule 3: sent for while it is held
        if turnIsFree, let front, !front.state.needsNoWake { send(for: front) }
        setTimerIfNeeded()  // fault: rule 5: no timer
        return actions.isEmpty ? [] : actions.drain()
    }

    /// Says in the turn word what the line is.
    ///
    /// - Returns: Whether the turn is free, and may be taken.
    private mutating func exchangeWord() -> Bool {
        while true {
            let seen = turn
            let published = TurnWord(holder: holder ?? seen.holder, of: self)
            guard published == seen || word.exchangeReleasing(seen.bits, for: published.bits) else { continue }
            holder = nil
            return published.isFree && !published.isSuspended
        }
    }

    mutating func send(for front: Waiter) {
        if let lane = front.lane { return startBlock(lane) }
        front.state.needsNoWake = true
        if front.kind == .task { front.noteSent(at: now()) }
        actions.append(.wake(front))
    }

    /// A new block of a lane does what there is to do. An older one goes on with nothing.
    mutating func startBlock(_ lane: Lane) {
        let run = BlockRun(lane)
        lane.running = run
        lane.noteSent(at: now())
        actions.append(.dispatch(run))
    }

    /// Another block does the rest of the lane's commands. The old one tells somebody, or runs on this thread.
    mutating func replaceBlock(_ lane: Lane) {
        lane.running?.putBatchBack()
        lane.running?.isReplaced = true
        if lane.state.standing != .late { reinsert(lane) }
        startBlock(lane)
    }

    /// Takes a free turn for a waiter that is the front.
    mutating func takeTurn(for waiter: Waiter, as holder: UInt64) -> Bool {
        while front === waiter {
            let seen = turn
            // fault: rule 7: it begins while suspended; rule 1: a front takes a held turn
            guard seen.isFree, !seen.isSuspended else { break }
            if word.exchangeAcquiring(seen.bits, for: seen.held(by: holder).bits) { return true }
        }
        return false
    }

    /// A waiter that looks, was woken or was dispatched arrives: it returns to its place, and takes the turn if it is the
    /// front. A thread or a task with the turn waits no more.
    ///
    /// - Returns: Whether it has the turn.
    mutating func arrive(_ waiter: Waiter, as holder: UInt64) -> Bool {
        if waiter.state.standing == .late { returnToLine(waiter) }  // fault: rule 5: it does not come back
        waiter.state.dueTime = .max
        guard takeTurn(for: waiter, as: holder) else { return false }
        (waiter.state.isOwed, waiter.state.patience) = (false, Patience())
        if waiter.kind != .queue { leave(waiter) }
        return true
    }

    /// A waiter that arrived did not get the turn. If it is the front, it is owed the turn.
    mutating func oweAfterComingInVain(_ waiter: Waiter) {
        guard front === waiter else { return }
        waiter.state.isOwed = true  // fault: rule 4: in vain, and not owed
        waiter.state.patience.grow()
    }

    /// A thread that looked from its place in line, or a task: how it goes on.
    ///
    /// - Returns: `mayTry` if it is to sleep until it is woken.
    mutating func prepareToPark(_ waiter: Waiter) -> WaitEnd {
        // An async closure may need this very thread of the pool to end.
        if waiter.state.task != 0, turn.isHeldByAsyncClosure { refuse(waiter, .circularWait) }
        if let error = waiter.state.refusal { return .refused(error) }
        if waiter.kind == .thread, arrive(waiter, as: waiter.identity) { return .hasTurn }
        waiter.state.needsNoWake = false  // fault: rule 2: a sleeper is thought awake
        if let priority = waiter.state.taskPriority, turn.isHeldByAsyncClosure {
            actions.append(.liftHolder(to: priority))
        }
        return .mayTry
    }

    /// A thread or a task was woken: how its wait ended.
    mutating func finishWait(_ waiter: Waiter, as holder: UInt64) -> WaitEnd {
        if let error = waiter.state.refusal { return .refused(error) }
        if arrive(waiter, as: holder) { return .hasTurn }
        oweAfterComingInVain(waiter)
        return .mayTry
    }

    /// An async closure has the turn: the threads of tasks that wait are refused, as it may need them to end.
    ///
    /// - Returns: The priority of the front, if that is a task.
    mutating func refuseThreadsOfTasks() -> UInt8? {
        if taskThreadCount > 0 {  // fault: a closure lets threads sleep
            for case let thread? in waiters.elements + watchers.elements where thread.state.task != 0 {
                refuse(thread, .circularWait)
            }
        }
        return front?.state.taskPriority
    }

    /// Gives the turn back.
    ///
    /// - Parameter isChange: Whether the value may have changed.
    mutating func release(afterChange isChange: Bool) {
        holder = 0
        if isChange { wakeWatchers() }  // fault: a change wakes no condition
    }
}
