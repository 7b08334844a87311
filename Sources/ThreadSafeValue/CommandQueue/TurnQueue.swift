//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The turn of a value and the line for it, whatever the value is: all that is not on the fast path.
///
/// An object of its own, made when the turn is wanted for the first time while it is taken. Blocks keep the value;
/// timers and handles of commands keep only this, so none of them lets a value go.
@usableFromInline
final class TurnQueue {
    /// The turn word, in the storage of the value.
    let word: AtomicWord

    // Not to be used once the line is over.
    unowned(unsafe) let owner: any AnyCommandQueue

    private let lock = PlatformLock()

    // Guarded by `lock`. Not tracked, as the state of a waiter.
    @exclusivity(unchecked) private var line: Line

    /// How many commands of target queues have begun. Only what has the turn writes it, so it stands beside the turn
    /// word.
    let startedCount: AtomicWord

    init(word: AtomicWord, startedCount: AtomicWord, owner: any AnyCommandQueue, limit: Int) {
        (self.word, self.startedCount) = (word, startedCount)
        unsafe self.owner = owner
        unsafe line = Line(limit: limit)
    }
}

// The line is guarded by its lock, the words are atomic.
extension TurnQueue: @unchecked Sendable {}

/// A command queue, whatever its value.
protocol AnyCommandQueue: AnyObject {
    var valueType: any Any.Type { get }

    /// Notes for listeners how a command leaves the value; only with the turn.
    ///
    /// - Returns: What to do without the turn.
    func recordChange() -> Effect?
}

extension TurnQueue {
    var turn: TurnWord { TurnWord(bits: word.load()) }

    var valueType: any Any.Type { unsafe owner.valueType }

    /// The turn in the graph of all waits.
    var resource: WaitGraph.Resource { WaitGraph.Resource(isTurn: true, word: word, user: valueType) }

    /// Looks at the line, or changes what the turn word does not tell.
    @inline(__always)
    func withLine<Answer>(_ body: (inout Line) -> Answer) -> Answer {
        lock.lockForMoment()
        defer { lock.unlock() }
        return unsafe body(&line)
    }

    /// Changes the line under its lock, publishes it in the turn word, and then wakes what is next.
    ///
    /// - Parameter change: Notes in `effects` what has the turn from now on, and what else is to be woken.
    /// - Returns: What `change` returned.
    @inline(__always)
    func update<Answer>(_ change: (inout Line) -> Answer) -> Answer {
        let (answer, effects) = withLine { line in
            let answer = change(&line)
            if !line.isOver, !line.effects.changesNothing { publish(&line) }
            defer { line.effects = Line.Effects() }
            return (answer, line.effects)
        }
        for waiter in effects.woken { waiter.wake() }
        return answer
    }

    /// Rules 3 to 5, in one place: if the turn is free, the front is sent for; if it is owed, it is handed the turn;
    /// and the timer runs while something waits beside a lane.
    ///
    /// Invariant (true summary): without the lock, the word says what the line is.
    private func publish(_ line: inout Line) {
        line.judgeFront()
        watch(&line)
        let front = line.front
        // It may go on as soon as it is handed the turn, and be in another line.
        let isSent = front?.state.isSent == true
        while true {
            let seen = turn
            var holder = line.effects.holder ?? seen.holder
            let isFree = holder == 0 && line.suspensions == 0
            let isHanded = isFree && front?.state.isOwed == true
            if isHanded, let front {
                holder = front.identity
                // A task and a lane stay in line: they can be late.
                if front.kind == .thread { line.remove(front) }
            }
            let next = TurnWord(holder: holder, of: line)
            if next == seen || word.exchange(seen.bits, for: next.bits) {
                if isFree, let front, !isSent { send(for: front, &line) }
                return
            }
            if isHanded, let front { line.insert(front) }
        }
    }

    /// Sends for the front, while the turn is free or its own. One that looks may have gone on from here.
    private func send(for front: Waiter, _ line: inout Line) {
        if let lane = front.lane { return startBlock(lane, &line) }
        front.state.isSent = true
        if front.kind == .task { front.state.dueTime = now() + front.state.patience }
        line.effects.woken.append(front)
    }

    /// A new block of the lane is dispatched, and keeps the value.
    ///
    /// Under the lock, while the value is there: something waits and is not suspended, and what keeps the value then
    /// needs the lock to go.
    func startBlock(_ lane: Lane, _ line: inout Line) {
        lane.block += 1
        lane.tells?.isReplaced = true
        (lane.tells, lane.state.isSent, lane.state.dueTime) = (nil, true, now() + lane.state.patience)
        _ = unsafe Unmanaged<AnyObject>.passUnretained(owner).retain()
        line.effects.woken.append(lane)
    }

    /// Takes the turn if a newcomer may have it, and looks a few times.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - holder: What gets the turn.
    ///   - backoff: The pauses between the looks.
    /// - Returns: Whether it has the turn.
    func tryToTakeTurn(_ priority: CommandPriority, as holder: UInt64, _ backoff: Backoff = .none) -> Bool {
        var backoff = backoff
        while true {
            let seen = turn
            if seen.mayBeTaken(by: priority) {
                if word.exchangeAcquiring(seen.bits, for: seen.held(by: holder).bits) { return true }
            } else if !backoff.pause() {
                return false
            }
        }
    }

    /// What was sent for comes: it is at its place again, and takes the turn if it is the front. With the turn, a
    /// thread or a task waits no more. Under the lock.
    ///
    /// - Returns: Whether it has the turn, or was handed it before.
    func comes(_ waiter: Waiter, _ line: inout Line, as holder: UInt64? = nil) -> Bool {
        if waiter.state.isLate { line.place(waiter) }
        (waiter.state.dueTime, waiter.state.isLate) = (.max, false)
        let hasTurn = wasHanded(waiter) || takeTurn(line, for: waiter, as: holder ?? waiter.identity)
        if hasTurn, waiter.kind != .queue { line.leave(waiter) }
        return hasTurn
    }

    /// Whether a waiter was handed the turn, with or without the lock.
    func wasHanded(_ waiter: Waiter) -> Bool { TurnWord(bits: word.loadAcquiring()).holder == waiter.identity }

    /// Takes a free turn for a waiter that is the front. Under the lock.
    func takeTurn(_ line: borrowing Line, for waiter: Waiter, as holder: UInt64) -> Bool {
        while line.front === waiter {
            let seen = turn
            guard seen.isFree, !seen.isSuspended else { break }
            if word.exchange(seen.bits, for: seen.held(by: holder).bits) { return true }
        }
        return false
    }

    /// Gives back the turn of the caller.
    ///
    /// - Parameter isChange: Whether the value may have changed.
    @usableFromInline
    func giveTurnBack(afterChange isChange: Bool) {
        giveTurnBackToTell(afterChange: isChange)?.perform()
    }

    /// Gives back the turn of the caller. Inlined, as each command comes here while something stands in line.
    ///
    /// - Returns: What tells listeners, when the caller has given all its turns back.
    @inline(__always)
    func giveTurnBackToTell(afterChange isChange: Bool) -> Effect? {
        // A listener that comes after this look is behind the command.
        let delivery = unsafe isChange && turn.isObserved ? owner.recordChange() : nil
        while true {
            let seen = turn
            if seen.looks || seen.isObserved && isChange { break }
            if word.exchangeReleasing(seen.bits, for: seen.held(by: 0).bits) { return delivery }
        }
        update { line in
            line.effects.holder = 0
            if isChange { line.wakeWatchers() }
        }
        return delivery
    }

    /// Takes back one `suspend()`.
    ///
    /// - Returns: Whether there was one.
    func resume() -> Bool {
        update { line in
            guard line.suspensions > 0 else { return false }
            line.suspensions -= 1
            return true
        }
    }
}
