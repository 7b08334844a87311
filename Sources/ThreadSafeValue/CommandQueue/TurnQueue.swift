//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The turn of a value and the line for it, whatever the value is: all that is not on the fast path.
///
/// `TurnQueue` is what runs: it takes the lock, asks the `Line`, and performs the actions that follow without the lock.
///
/// It is an object of its own, made by the first call that leaves the fast path. Blocks keep the value;
/// timers and handles of commands keep only this, so none of them lets a value go.
@usableFromInline final class TurnQueue {
    /// The turn word, in the storage of the value.
    let word: AtomicWord

    /// The type of the value, for messages.
    let valueType: any Any.Type

    // Not to be used once the line is over.
    unowned(unsafe) let owner: any AnyCommandQueue

    private let lock = PlatformLock()

    // Guarded by `lock`. Not tracked, as the state of a waiter.
    @exclusivity(unchecked) private var line: Line

    /// How many commands of target queues have begun. Only what has the turn writes it, so it stands beside the turn
    /// word.
    let startedCount: AtomicWord

    let reorderings = Reorderings()

    /// The tasks that lift the priority of one that has the turn, or had.
    private let lifts = DispatchGroup()

    init(word: AtomicWord, startedCount: AtomicWord, owner: any AnyCommandQueue, limit: Int) {
        (self.word, self.startedCount, valueType) = (word, startedCount, owner.valueType)
        unsafe self.owner = owner
        unsafe line = Line(word: word, startedCount: startedCount, reorderings: reorderings, limit: limit)
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
    func recordChange() -> Notification?
}

extension TurnQueue {
    var turn: TurnWord { TurnWord(bits: word.load()) }

    /// The turn in the graph of all waits.
    var resource: WaitGraph.Resource { WaitGraph.Resource(isTurn: true, word: word, user: valueType) }

    /// Looks at the line, or changes what the turn word does not tell.
    @inline(__always) func withLine<Answer>(_ body: (inout Line) -> Answer) -> Answer {
        lock.lockForMoment()
        defer { lock.unlock() }
        return unsafe body(&line)
    }

    /// Changes the line under its lock, publishes it in the turn word, and then performs what follows.
    ///
    /// - Parameter change: Changes the line.
    /// - Returns: What `change` returned.
    @inline(__always) func update<Answer>(_ change: (inout Line) -> Answer) -> Answer {
        let (answer, actions) = withLine { line in
            let answer = change(&line)
            let actions = line.publish()
            // The value still lives: whatever keeps it for a waiter in line lets go only with this lock.
            for case .dispatch in actions { _ = unsafe Unmanaged<AnyObject>.passUnretained(owner).retain() }
            return (answer, actions)
        }
        if !actions.isEmpty { perform(actions) }
        return answer
    }

    private func perform(_ actions: [Line.Action]) {
        for action in actions {
            switch action {
            case .wake(let waiter): waiter.wake()
            case .dispatch(let run): run.lane.target.async { [self] in self.run(run) }
            // A completion is released on the target queue, and not on the thread that completes the command.
            case .tell(let ended): ended.lane.target.async { ended.command.releaseAndNotify(ended.lane) }
            case .mark(let target): target.becomeOwn()
            case .liftHolder(let priority): liftHolder(to: priority)
            case .look(let time): LibraryTimer.set(at: time) { self.update { $0.look() } }
            }
        }
    }

    /// Lifts the priority of the task whose async closure has the turn.
    private func liftHolder(to priority: UInt8) {
        lifts.enter()
        defer { lifts.leave() }
        while case let seen = turn, seen.isHeldByAsyncClosure {
            // The task has the turn still, so it waits for the lift once it has given that back.
            if word.exchangeReleasing(seen.bits, for: seen.bits) { return liftPriority(of: seen.holder, to: priority) }
        }
    }

    /// Takes the turn if a newcomer may have it, and looks a few times.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - holder: What gets the turn.
    ///   - backoff: The pauses between the looks.
    ///   - isTry: Whether it does not wait if it fails.
    /// - Returns: Whether it has the turn.
    func tryToTakeTurn(
        _ priority: CommandPriority,
        as holder: UInt64,
        _ backoff: Backoff = Backoff(spins: 0),
        isTry: Bool = false
    ) -> Bool {
        var (backoff, hasLookedLong) = (backoff, backoff.isOver)
        while true {
            let seen = turn
            if seen.mayBeTaken(by: priority, isTry: isTry) {
                // fault: order: take
                if word.exchangeAcquiring(seen.bits, for: seen.held(by: holder).bits) { return true }
            } else if !backoff.pause() {
                // Rule 4: a more urgent newcomer does not stand in line at once before a front that may be about to come.
                // fault: rule 4: it looks and does not stand
                if hasLookedLong || !seen.isFree || !seen.isOwed(before: priority) { return false }
                backoff = Backoff(spins: HandoffPolicy.owedLooks * Backoff.spinsBeforeParking)
                hasLookedLong = true
            }
        }
    }

    /// Takes the turn only if it is to be had now. Whatever is late stands in nobody's way.
    func tryToTakeTurnNow(_ priority: CommandPriority, as holder: UInt64) -> Bool {
        if tryToTakeTurn(priority, as: holder, isTry: true) { return true }
        guard turn.isFree, !turn.isSuspended else { return false }
        update { $0.passLate() }
        return tryToTakeTurn(priority, as: holder, isTry: true)
    }

    /// Takes a turn that is to be had without standing in line.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - holder: What gets the turn.
    ///   - deadline: Until when it may wait.
    ///   - isWatching: Whether the caller has the turn, and takes it again after the next change.
    /// - Returns: `mayTry` if the caller is to stand in line.
    func takeTurn(
        _ priority: CommandPriority,
        as holder: UInt64,
        until deadline: Deadline,
        isWatching: Bool
    ) -> WaitEnd {
        if isWatching {
            guard deadline.hasPassed else { return .mayTry }
            releaseAndNotify(afterChange: false)
            return .refused(.timedOut)
        }
        // Often the turn is free, and the fast path failed only as something stands in line.
        if tryToTakeTurn(priority, as: holder) { return .hasTurn }
        // fault: re-entrant, it waits
        if turn.isHeld(by: currentThreadIdentity(), or: currentTaskIdentity()) { return .refused(.reentrantCommand) }
        if deadline == .passed { return tryToTakeTurnNow(priority, as: holder) ? .hasTurn : .refused(.timedOut) }
        if tryToTakeTurn(priority, as: holder, .beforeParking) {
            return failure(at: deadline).map { .refused($0) } ?? .hasTurn
        }
        return deadline.hasPassed ? .refused(.timedOut) : .mayTry
    }

    /// Checks the time of what has the turn: no closure begins after its time-out.
    ///
    /// - Returns: Why it has given the turn back, if it has.
    @usableFromInline func failure(at deadline: Deadline) -> QueueSafeValueError? {
        if !deadline.isOver { return nil }
        releaseAndNotify(afterChange: false)
        return .timedOut
    }

    /// Gives back the turn of the caller, and tells listeners.
    ///
    /// - Parameters:
    ///   - isChange: Whether the value may have changed.
    ///   - record: Gives the change to the listeners, and returns what tells them.
    @usableFromInline func releaseAndNotify(afterChange isChange: Bool, _ record: () -> Notification? = { nil }) {
        releaseTurn(afterChange: isChange, record)?.perform()
    }

    /// Gives back the turn of the caller. Inlined, as each command comes here while something stands in line.
    ///
    /// - Parameters:
    ///   - isChange: Whether the value may have changed.
    ///   - action: What is to be done once the turn is free, before anything is sent for.
    ///   - record: Gives the change to the listeners, and returns what tells them.
    /// - Returns: What tells listeners, when the caller has given all its turns back.
    @inline(__always) func releaseTurn(
        afterChange isChange: Bool,
        andFirst action: Line.Action? = nil,
        _ record: () -> Notification?
    ) -> Notification? {
        // A listener that comes after this look is behind the command.
        let delivery = isChange && turn.isObserved ? record() : nil
        let mayBeLifted = turn.isHeldByAsyncClosure
        // The task must not end while another one lifts its priority. An exchange that frees acquires nothing, so only a
        // further look at the word makes visible that another one is about to lift.
        defer {
            if mayBeLifted {
                _ = word.loadAcquiring()  // fault: order: see a lift
                lifts.wait()
            }
        }
        while action == nil, case let seen = turn, !seen.releaseMustLock, !(seen.isObserved && isChange) {
            // fault: order: free
            if word.exchangeReleasing(seen.bits, for: seen.held(by: 0).bits) { return delivery }
        }
        update { line in
            if let action { line.actions.append(action) }
            line.release(afterChange: isChange)
        }
        return delivery
    }
}
