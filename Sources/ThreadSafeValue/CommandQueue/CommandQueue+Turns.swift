//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

// How the turn goes from one to the next, when the fast path of `perform` does not do.

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
        let backoff = backoff(before: deadline)
        switch tryToTakeTurn(priority, backoff) {
        case .taken: return nil
        case .refused(let failure): return failure
        case .busy: if timeout == 0 { return .timedOut }
        }
        guard WaitGraph.shared.beginWaiting(for: word) else { return .circularWait }
        defer { WaitGraph.shared.endWaiting(for: word) }
        let parker = Parker()
        let command = PendingCommand(priority, of: parker)
        let isAccepted = carryOut { line, errands in
            // The last look at this was without the lock.
            if turn.isClosed { return false }
            line.append(command)
            settle(&line, &errands)
            return true
        }
        if !isAccepted { return .valueContainerDeinited }
        while true {
            let isInTime = parker.park(until: deadline)
            if takeTurn(woken: command, isInTime ? backoff : .none, orLeave: !isInTime) { return nil }
            if !isInTime { return .timedOut }
        }
    }

    /// Gives back a turn for which somebody waits, or a value that somebody listens to.
    @usableFromInline
    func giveTurnBackSlowly(of holder: UInt64, afterChange isChange: Bool) {
        // A listener that comes after this look is behind the command.
        let delivery = isChange && turn.isObserved ? recordChange() : nil
        // Nobody else changes the holder of a turn that is taken, so there is nothing to compare.
        let before = TurnWord(bits: word.subtractReleasing(holder))
        if before.awaitsSummons || before.isClosed { summonNext() }
        delivery?.deliver()
    }

    /// Sees to it that a turn that was given back goes to whoever is next, unless somebody took it already.
    @usableFromInline
    func summonNext() {
        carryOut { line, errands in settle(&line, &errands) }
    }

    /// Nothing more is accepted from now on; what was accepted is done.
    @usableFromInline
    func close() {
        while true {
            let seen = turn
            var next = seen
            next.isClosed = true
            if word.exchange(seen.bits, for: next.bits) { break }
        }
        carryOut { line, errands in
            // Nobody is left to resume it.
            line.suspensions = 0
            settle(&line, &errands)
        }
    }

    /// Lets the turn rest once the running command is complete; what is accepted waits.
    func suspend() {
        carryOut { line, errands in
            line.suspensions += 1
            settle(&line, &errands)
        }
    }

    /// Takes back one `suspend()`.
    ///
    /// - Returns: whether there was one.
    func resume() -> Bool {
        carryOut { line, errands in
            guard line.isSuspended else { return false }
            line.suspensions -= 1
            settle(&line, &errands)
            return true
        }
    }
}

// The steps that these and the lanes are made of.

extension CommandQueue {
    var turn: TurnWord { TurnWord(bits: word.load()) }

    /// Changes the line under its lock, then carries out what follows from the change.
    func carryOut<Answer>(_ change: (inout WaitingLine, inout WaitingLine.Errands) -> Answer) -> Answer {
        var errands = WaitingLine.Errands()
        var listeners: (any ValueListeners)?
        let answer = storage.line.write { line in
            let answer = change(&line, &errands)
            // Once the value changes no more.
            let seen = turn
            if seen.isClosed, seen.isFree, line.isEmpty { listeners = line.endListening() }
            return answer
        }
        carryOut(errands)
        listeners?.finish()
        return answer
    }

    func carryOut(_ errands: WaitingLine.Errands) {
        errands.wake?.wake()
        if let lane = errands.send { lane.target.async { self.serve(lane) } }
        if let time = errands.timer { startTimer(time) }
    }

    /// Makes the line's invariants true and writes its summary to the word.
    ///
    /// The holder may change at any time without the lock, so the word is exchanged only as it was looked at.
    func settle(_ line: inout WaitingLine, _ errands: inout WaitingLine.Errands) {
        while true {
            let seen = turn
            let best = line.settle(turnIsFree: seen.isFree && !line.isSuspended, &errands)
            guard publishBound(of: best, in: &line) else { continue }
            var next = seen
            next.waiting = best?.priority.level ?? 0
            next.isSummoned = line.promised != nil
            next.isSuspended = line.isSuspended
            next.isObserved = line.isObserved
            if next == seen || word.exchange(seen.bits, for: next.bits) { return }
        }
    }

    /// Writes until when newcomers may pass `best`, unless one of them has just set the bound.
    private func publishBound(of best: PendingCommand?, in line: inout WaitingLine) -> Bool {
        let seen = storage.passingBound.load()
        let bound = line.passingBound(of: best, after: PassingBound(bits: seen)).bits
        return bound == seen || storage.passingBound.exchange(seen, for: bound)
    }

    /// Takes a free turn for `command` if it is the best that waits.
    ///
    /// The word's summary is as before: take the command out of the line, then `settle`.
    func takeTurn(for command: PendingCommand, in line: borrowing WaitingLine) -> Bool {
        while line.best === command {
            let seen = turn
            guard seen.isFree, !line.isSuspended else { return false }
            if word.exchangeAcquiring(seen.bits, for: seen.held(by: TurnWord.currentThread).bits) {
                return true
            }
        }
        return false
    }
}

/// What a newcomer that looks for the turn finds.
enum Attempt {
    case taken
    case busy
    case refused(QueueSafeValueError)
}

extension CommandQueue {
    /// Looks a few times whether a newcomer may take the turn.
    func tryToTakeTurn(_ priority: CommandPriority, _ backoff: Backoff) -> Attempt {
        let thread = TurnWord.currentThread
        var backoff = backoff
        while true {
            let seen = turn
            if seen.holder == thread || isHeldByThisTask(seen) { return .refused(.reentrantCommand) }
            if seen.isClosed { return .refused(.valueContainerDeinited) }
            if seen.isFree, !seen.isSuspended, seen.waiting == 0 || mayPass(seen, priority) {
                if word.exchangeAcquiring(seen.bits, for: seen.held(by: thread).bits) { return .taken }
            } else if !backoff.pause() {
                return .busy
            }
        }
    }

    /// How to look before parking. Who gives the processor away does not know when it comes back, so it takes all the time.
    private func backoff(before deadline: UInt64) -> Backoff {
        switch deadline {
        case 0: .none
        case .max: storage.backoff
        default: storage.backoff.keepingProcessor
        }
    }

    /// Whether the command is part of an async body that has the turn.
    private func isHeldByThisTask(_ seen: TurnWord) -> Bool {
        seen.isHeldByTask && TaskOwner.current.contains(seen.holder)
    }

    /// Whether a newcomer may take a free turn before those who wait.
    private func mayPass(_ seen: TurnWord, _ priority: CommandPriority) -> Bool {
        guard priority.level == seen.waiting else { return priority.level > seen.waiting && storage.allowsPassing }
        let bound = PassingBound(bits: storage.passingBound.load())
        guard bound.isOf(priority) else { return false }
        // Not before the look: a bound that was set since would seem to lie ahead. What came of the look was tested, as a
        // processor may read the clock before it has loaded a word on which nothing depends.
        let time = now()
        guard bound.allows(priority, at: time) else { return false }
        guard bound.isUnset else { return true }
        let first = PassingBound(priority, until: time &+ storage.passing)
        // The time is read again: a thread that was held up before the exchange may have set the bound of somebody who came
        // after its end, who would count as not passed yet.
        return storage.passingBound.exchange(bound.bits, for: first.bits) && first.allows(priority, at: now())
    }

    /// Takes the turn for a parked thread that is there now, if it is next; if not, takes it out of the line if asked to.
    ///
    /// To wake it cost far more than most commands take. So if the turn is taken, the thread keeps the promise for a moment,
    /// in which none of its equals may pass, and looks whether it is given back.
    private func takeTurn(woken command: PendingCommand, _ backoff: Backoff, orLeave leaves: Bool) -> Bool {
        var backoff = backoff
        while true {
            let mayLookAgain = !backoff.isOver
            let isTaken: Bool? = carryOut { line, errands in
                defer { settle(&line, &errands) }
                let isTaken = takeTurn(for: command, in: line)
                if !isTaken, mayLookAgain, line.keepsPromise(to: command) { return nil }
                line.arrived(command)
                if isTaken { line.begin(command.priority) }
                if isTaken || leaves { line.remove(command) }
                return isTaken
            }
            if let isTaken { return isTaken }
            while backoff.pause(), !turn.isFree {}
        }
    }

    private func startTimer(_ time: UInt64) {
        let timed = Timed(storage: storage)
        Timekeeper.shared.set(time) {
            guard let storage = timed.storage else { return nil }
            let queue = CommandQueue(storage: storage)
            queue.carryOut { line, errands in
                line.timerFired()
                queue.settle(&line, &errands)
            }
            return storage
        }
    }

    // A timer does not keep the value alive.
    private struct Timed: @unchecked Sendable {
        weak var storage: CommandQueueStorage<Value>?
    }
}
