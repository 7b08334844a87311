//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

// How the turn goes from one to the next, when the fast path of `perform` does not do. `TurnWord.admission` and `WaiterQueue`
// decide; this reads, exchanges and performs.

extension CommandQueue {
    var turn: TurnWord { TurnWord(bits: word.load()) }

    /// The turn in the graph of all waits.
    var resource: WaitGraph.Resource { WaitGraph.Resource(kind: .turn, word: word, user: Value.self) }

    /// Changes the line under its lock, then performs what follows from the change.
    func update<Answer>(_ change: (inout WaiterQueue, inout WaiterQueue.Effects) -> Answer) -> Answer {
        var effects = WaiterQueue.Effects()
        let answer = storage.withWaiters { change(&$0, &effects) }
        perform(effects)
        return answer
    }

    private func perform(_ effects: WaiterQueue.Effects) {
        effects.wake?.wake()
        if let lane = effects.dispatch { dispatch(lane) }
        if !effects.probes.isEmpty { effects.probes.forEach(dispatch) }
        if let time = effects.timer {
            TimerThread.shared.set(time, for: storage.withWaiters { _ in storage.reference })
        }
    }

    private func dispatch(_ lane: Lane) {
        let number = lane.blockNumber
        lane.target.async { drain(lane, block: number) }
    }

    /// Chooses the successor and publishes the line in the turn word.
    ///
    /// Others may take the turn or give it back at any time without the lock, so the word is exchanged only as it was read.
    ///
    /// - Parameters:
    ///   - waiters: the line.
    ///   - effects: what follows, to be performed when the lock is free.
    ///   - freeing: whether the caller has the turn and frees it with the same exchange.
    func publish(_ waiters: inout WaiterQueue, _ effects: inout WaiterQueue.Effects, freeing: Bool = false) {
        while true {
            let seen = turn
            let holder = freeing ? 0 : seen.holder
            waiters.chooseSuccessor(turnIsFree: holder == 0, &effects)
            let deadline = waiters.bargingDeadline.bits
            let isNewDeadline = storage.bargingDeadline.load() != deadline
            if isNewDeadline { storage.bargingDeadline.store(deadline) }
            if waiters.laneCommandCount == 0, storage.submitters.load() != 0 { storage.submitters.store(0) }
            let next = waiters.summary(holder: holder)
            // Who sees the word sees the deadline that belongs to it.
            if next == seen, !isNewDeadline { return }
            if word.exchange(seen.bits, for: next.bits) { return }
        }
    }

    /// Takes a free turn for a command that is the front, on the calling thread. Take it out of the line then, and publish.
    func claimTurn(for command: PendingCommand, in waiters: borrowing WaiterQueue) -> Bool {
        while waiters.front === command, !waiters.isSuspended {
            let seen = turn
            guard seen.isFree else { return false }
            if word.exchangeAcquiring(seen.bits, for: seen.held(by: TurnWord.currentThread).bits) { return true }
        }
        return false
    }
}

// Giving the turn back.

extension CommandQueue {
    /// Gives back a turn for which somebody waits, or a value that somebody listens to.
    @usableFromInline
    func giveTurnBackSlowly(of holder: UInt64, afterChange isChange: Bool) {
        // A listener that comes after this look is behind the command.
        let delivery = isChange && turn.isObserved ? recordChange() : nil
        freeTurn()
        delivery?.deliver()
    }

    private func freeTurn() {
        while true {
            let seen = turn
            if seen.needsSuccessor {
                return update { waiters, effects in publish(&waiters, &effects, freeing: true) }
            }
            if word.exchangeReleasing(seen.bits, for: seen.held(by: 0).bits) { return }
        }
    }

    /// The turn of the caller stays with its command when the thread goes on to something else.
    func moveTurn(to holder: UInt64) {
        while true {
            let seen = turn
            if word.exchange(seen.bits, for: seen.held(by: holder).bits) { return }
        }
    }

    /// Lets commands wait, once the running one is complete.
    func suspend() {
        update { waiters, effects in
            waiters.suspensions += 1
            publish(&waiters, &effects)
        }
    }

    /// Takes back one `suspend()`.
    ///
    /// - Returns: whether there was one.
    func resume() -> Bool {
        update { waiters, effects in
            guard waiters.isSuspended else { return false }
            waiters.suspensions -= 1
            publish(&waiters, &effects)
            return true
        }
    }
}

// Taking the turn on the calling thread.

/// What a newcomer finds.
enum Attempt {
    case taken
    case busy
    case refused(QueueSafeValueError)
}

extension CommandQueue {
    /// Takes the turn on the calling thread, and parks it for as long as that takes.
    ///
    /// - Parameters:
    ///   - priority: how early it gets its turn.
    ///   - timeout: for how long it may wait, in nanoseconds; with 0 it only looks.
    /// - Returns: `nil` with the turn, or why there is none to be had.
    @usableFromInline
    func takeTurnSlowly(_ priority: CommandPriority, _ timeout: UInt64) -> QueueSafeValueError? {
        let deadline = timeout == .max || timeout == 0 ? timeout : now() &+ timeout
        switch tryToTakeTurn(priority, timeout == 0 ? .none : storage.spinning) {
        case .taken: return nil
        case .refused(let failure): return failure
        case .busy: return timeout == 0 ? .timedOut : waitInLine(priority, until: deadline)
        }
    }

    /// Looks a few times whether a newcomer may take the turn.
    func tryToTakeTurn(_ priority: CommandPriority, _ backoff: Backoff) -> Attempt {
        let thread = TurnWord.currentThread
        var backoff = backoff
        while true {
            let seen = turn
            if seen.holder == thread || isHeldByThisTask(seen) { return .refused(.reentrantCommand) }
            switch seen.admission(of: priority) {
            case .take:
                if word.exchangeAcquiring(seen.bits, for: seen.held(by: thread).bits) { return .taken }
                continue
            case .barge where mayBarge(priority):
                let before = deadline
                guard word.exchangeAcquiring(seen.bits, for: seen.held(by: thread).bits) else { continue }
                // After the exchange: a thread may be held up before it for as long as it takes. And both: the front may change.
                let time = now()
                if before.allows(priority, at: time), deadline.allows(priority, at: time) { return .taken }
                update { waiters, effects in
                    waiters.endBarging()
                    publish(&waiters, &effects, freeing: true)
                }
            case .barge, .spin: if !backoff.pause() { return .busy }
            case .queue: return .busy
            }
        }
    }

    private var deadline: BargingDeadline { BargingDeadline(bits: storage.bargingDeadline.load()) }

    /// Whether a newcomer may barge past its equals, if it is in time.
    private func mayBarge(_ priority: CommandPriority) -> Bool {
        guard deadline.isOf(priority) else { return false }
        // No thread or task before its own commands. A shared bit only makes a newcomer stand in line.
        let submitters = storage.submitters.load()
        return submitters == 0 || submitters & Submitter.currentBit == 0
    }

    /// Whether the command is part of an async body that has the turn.
    private func isHeldByThisTask(_ seen: TurnWord) -> Bool {
        seen.isHeldByTask && TaskBody.current?.isPart(of: seen.holder) == true
    }

    /// Stands in line and parks until the turn is there, or the time is up.
    private func waitInLine(_ priority: CommandPriority, until deadline: UInt64) -> QueueSafeValueError? {
        let command = ThreadWaiter.current
        command.reuse(for: priority)
        let thread = TurnWord.currentThread
        let body = TaskBody.current
        update { waiters, effects in
            waiters.append(command, on: thread, &effects)
            publish(&waiters, &effects)
        }
        // A wait that ends is in no circle for ever.
        if deadline == .max {
            let delay = storage.policy.circleDelay
            if delay > 0, park(command, until: now() &+ delay) { return nil }
            if WaitGraph.shared.begin(for: resource, thread: thread, body: body) != nil {
                return takeTurn(woken: command, orLeave: true) ? nil : .circularWait
            }
        }
        defer { if deadline == .max { WaitGraph.shared.end(for: resource, thread: thread, body: body) } }
        if park(command, until: deadline) || takeTurn(woken: command, orLeave: true) { return nil }
        return .timedOut
    }

    /// Parks until the turn is there.
    ///
    /// - Returns: whether it is; `false` when the time is up.
    private func park(_ command: PendingCommand, until deadline: UInt64) -> Bool {
        while command.parker!.park(until: deadline) {
            if takeTurn(woken: command, orLeave: false) { return true }
        }
        return false
    }

    /// Takes the turn for a thread that stands in line, if it is next; if not, takes it out of the line if asked to.
    private func takeTurn(woken command: PendingCommand, orLeave leaves: Bool) -> Bool {
        var backoff = leaves ? .none : storage.spinning
        while true {
            let mayLookAgain = !backoff.isOver
            let isTaken: Bool? = update { waiters, effects in
                defer { publish(&waiters, &effects) }
                let isTaken = claimTurn(for: command, in: waiters)
                if !isTaken, mayLookAgain, waiters.successorLooks(command) { return nil }
                waiters.successorGoes(command)
                if isTaken || leaves { waiters.remove(command) }
                return isTaken
            }
            if let isTaken { return isTaken }
            while backoff.pause(), !turn.isFree {}
        }
    }
}

extension CommandQueueStorage {
    /// The pauses of a thread that looks for a turn which another running thread has.
    var spinning: Backoff { Backoff(spins: policy.spins, yields: 0) }
}

/// Who submits commands, in one of 64 bits.
enum Submitter {
    /// The bit of the current task, or else of the calling thread.
    static var currentBit: UInt64 {
        let task = unsafe withUnsafeCurrentTask { task in
            unsafe task.map { unsafe UInt64(truncatingIfNeeded: $0.hashValue) }
        }
        let identity = task ?? currentThreadIdentity() >> 4 &* 0x9E37_79B9_7F4A_7C15
        return 1 << (identity >> 58)
    }
}
