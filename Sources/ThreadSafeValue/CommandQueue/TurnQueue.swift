//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The turn of a command queue and the line for it, whatever the value is: all that is not on the fast path.
///
/// Not generic, because the compiler specialises nothing here for the type of a value: each step would have to look up
/// what it needs to know of that. And without a reference of its own, as each step would count it up and down: whoever
/// uses it keeps the storage meanwhile.
@safe
@usableFromInline
struct TurnQueue {
    private let state: UnsafeMutablePointer<CommandQueueState>

    @usableFromInline
    init(state: UnsafeMutablePointer<CommandQueueState>) {
        unsafe self.state = state
    }
}

// The state is reached only by atomics or under its lock.
extension TurnQueue: @unchecked Sendable {}

extension TurnQueue {
    /// The storage, which holds the state.
    var owner: any AnyCommandQueue { unsafe state.pointer(to: \.owner).unsafelyUnwrapped.pointee.queue }

    /// What tells it from other queues, and stands for the order in which several turns are taken.
    var identity: UInt { unsafe UInt(bitPattern: state) }

    var word: AtomicWord { unsafe CommandQueueState.word(0, of: state) }

    var bargingDeadline: AtomicWord { unsafe CommandQueueState.word(1, of: state) }

    var frontArrival: AtomicWord { unsafe CommandQueueState.word(2, of: state) }

    var policy: HandoffPolicy { unsafe state.pointer(to: \.policy).unsafelyUnwrapped.pointee }

    /// Runs `body` under the lock.
    @inline(__always)
    func withWaiters<Answer>(_ body: (inout WaiterQueue) -> Answer) -> Answer {
        unsafe PlatformLock.Storage.lock(CommandQueueState.lock(state))
        defer { unsafe PlatformLock.Storage.unlock(CommandQueueState.lock(state)) }
        return unsafe body(&CommandQueueState.waiters(state).pointee)
    }

    /// What handles and timers keep instead of the owner.
    func weakReference() -> QueueReference {
        unsafe CommandQueueState.word(3, of: state).object { QueueReference(to: owner) }
    }

    func state(of command: PendingCommand) -> PendingCommand.State {
        update { _, _ in command.currentState }
    }

    /// The time of the successor is over.
    func timerFired() {
        update { waiters, _ in waiters.timerFired() }
    }

    /// The first listener has come, or the last one has gone.
    func observe(_ isObserved: Bool) {
        update { waiters, _ in waiters.isObserved = isObserved }
    }
}

// How the turn goes from one to the next, when the fast path of `perform` does not do. `TurnWord.admission` and
// `WaiterQueue` decide; this reads, exchanges and performs.

extension TurnQueue {
    var turn: TurnWord { TurnWord(bits: word.load()) }

    /// The turn in the graph of all waits.
    var resource: WaitGraph.Resource { WaitGraph.Resource(kind: .turn, word: word, user: owner.valueType) }

    /// Changes the line under its lock, chooses the successor, publishes the line in the turn word, and then performs
    /// what follows.
    ///
    /// The turn word is read once more at the end: the clock that decides about barging is read after this, not in it.
    ///
    /// - Parameters:
    ///   - revokesGrant: Whether no lane may begin commands without the lock of the line any more.
    ///   - change: Says in the effects whether the turn of the caller goes to another holder in the same exchange.
    /// - Returns: What `change` returned.
    @inline(__always)
    func update<Answer>(
        revokesGrant: Bool = true,
        _ change: (inout WaiterQueue, inout WaiterQueue.Effects) -> Answer
    ) -> Answer {
        var effects = WaiterQueue.Effects()
        let answer = withWaiters { waiters in
            if revokesGrant { waiters.revokeGrant() }
            let answer = change(&waiters, &effects)
            if !effects.changesNothing {
                publish(&waiters, &effects)
                keepOwner(for: &effects)
            }
            return answer
        }
        if !effects.changesNothing { perform(effects) }
        return answer
    }

    private func perform(_ effects: borrowing WaiterQueue.Effects) {
        effects.wake?.wake()
        if let lane = effects.dispatch { dispatch(lane) }
        if !effects.probes.isEmpty { effects.probes.forEach(dispatch) }
        if let time = effects.timer { TimerThreads.turns.set(time, for: weakReference()) }
    }

    /// The blocks that are about to be dispatched keep the queue from now on, each with a reference of its own, and are
    /// all that lets go of these.
    ///
    /// Under the lock: as soon as that is free, a lane whose block is on its way counts as what keeps the queue, and
    /// the last of the others may go. Until then none can go, so the `deinit` has not begun: something waits, the value
    /// is not suspended, and what keeps the queue then needs the lock to go.
    ///
    /// - Parameter effects: Not changed; of what is borrowed, the compiler counts each reference.
    private func keepOwner(for effects: inout WaiterQueue.Effects) {
        if effects.dispatch == nil, effects.probes.isEmpty { return }
        let owner = unsafe Unmanaged<AnyObject>.passUnretained(owner)
        // A task keeps the queue anyway.
        if effects.dispatch?.isOfQueue == true { _ = unsafe owner.retain() }
        for lane in effects.probes where lane.isOfQueue { _ = unsafe owner.retain() }
    }

    private func dispatch(_ lane: Lane) {
        switch lane.target {
        case .task(let task): task.goOn(block: lane.blockNumber)
        case .queue(let queue):
            let number = lane.blockNumber
            nonisolated(unsafe) let owner = unsafe Unmanaged<AnyObject>.passUnretained(owner)
            queue.async { unsafe withExtendedLifetime(owner.takeRetainedValue()) { drain(lane, block: number) } }
        }
    }

    // Others may take the turn or give it back at any time without the lock, so the word is exchanged only as it was
    // read.
    private func publish(_ waiters: inout WaiterQueue, _ effects: inout WaiterQueue.Effects) {
        while true {
            // Acquired: who sees that a lane has freed the turn sees when.
            let seen = TurnWord(bits: word.loadAcquiring())
            let holder = effects.nextHolder ?? seen.holder
            waiters.chooseSuccessor(holder: holder, &effects)
            let (next, deadline, arrival) = waiters.summary(holder: holder)
            let isNewDeadline = bargingDeadline.load() != deadline.bits
            if isNewDeadline { bargingDeadline.store(deadline.bits) }
            // Released: who sees that its own commands are not as urgent as the front sees the deadline of that.
            if frontArrival.load() != arrival { frontArrival.storeReleasing(arrival) }
            // Who acquires the word sees the deadline that belongs to it, or a later one.
            if next == seen, !isNewDeadline { return }
            if word.exchange(seen.bits, for: next.bits) { return }
        }
    }

    /// Takes a free turn for the command that is next. Take it out of the line then.
    func claimTurn(in waiters: borrowing WaiterQueue, for holder: UInt64 = TurnWord.currentThread) -> Bool {
        while !waiters.isSuspended {
            let seen = turn
            guard seen.isFree else { return false }
            if word.exchangeAcquiring(seen.bits, for: seen.held(by: holder).bits) { return true }
        }
        return false
    }
}

// Giving the turn back.

extension TurnQueue {
    /// Gives back a turn for which somebody waits, or that of a value that somebody listens to.
    @usableFromInline
    func giveTurnBack(afterChange isChange: Bool) {
        giveTurnBackToTell(afterChange: isChange)?.deliver()
    }

    /// Gives back the turn of the caller.
    ///
    /// - Returns: What tells those who listen, when the caller has given all its turns back.
    func giveTurnBackToTell(afterChange isChange: Bool) -> Batch.Delivery? {
        let delivery = delivery(ofChange: isChange)
        freeTurn()
        return delivery
    }

    @inline(__always)
    private func delivery(ofChange isChange: Bool) -> Batch.Delivery? {
        // A listener that comes after this look is behind the command.
        isChange && turn.isObserved ? owner.recordChange() : nil
    }

    /// Gives back the turn of a manual command, whose completion is called on its queue before the lane's next command
    /// begins.
    func giveTurnBack(afterChange isChange: Bool, on target: DispatchQueue, calling call: CompletionCall) {
        let delivery = delivery(ofChange: isChange)
        let isNextOfLane = update { waiters, effects in
            effects.nextHolder = 0
            return waiters.append(call, for: target, &effects)
        }
        // The block of the lane may do something else, and on a concurrent queue nobody waits for that.
        if !isNextOfLane { target.async { call.make() } }
        delivery?.deliver()
    }

    /// Frees the turn of the caller.
    func freeTurn() {
        while true {
            let seen = turn
            if seen.needsSuccessor {
                return update { _, effects in effects.nextHolder = 0 }
            }
            if word.exchangeReleasing(seen.bits, for: seen.held(by: 0).bits) { return }
        }
    }

    /// The turn of the caller stays with its command when the thread goes on to something else.
    func moveTurn(to holder: UInt64) {
        // With the lock, and without a grant: the next holder knows nothing of one, and may free the turn at once.
        update { _, effects in effects.nextHolder = holder }
    }

    /// Lets commands wait, once the running one is complete.
    func suspend() {
        update { waiters, _ in waiters.suspensions += 1 }
    }

    /// Takes back one `suspend()`.
    ///
    /// - Returns: Whether there was one.
    func resume() -> Bool {
        update { waiters, _ in
            defer { waiters.suspensions = max(waiters.suspensions - 1, 0) }
            return waiters.isSuspended
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

extension TurnQueue {
    /// Takes the turn on the calling thread, if that is possible in time.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - timeout: For how long it may wait, in nanoseconds; with 0 it only looks.
    /// - Returns: `nil` with the turn, or why there is none to be had.
    @usableFromInline
    func waitForTurn(_ priority: CommandPriority, _ timeout: UInt64) -> QueueSafeValueError? {
        // The clock is asked only if the first looks were in vain, a moment later.
        waitForTurn(priority, waits: timeout > 0, until: Deadline(after: timeout))
    }

    func waitForTurn(_ priority: CommandPriority, until deadline: Deadline) -> QueueSafeValueError? {
        waitForTurn(priority, waits: deadline != .passed, until: deadline)
    }

    private func waitForTurn(
        _ priority: CommandPriority,
        waits: Bool,
        until deadline: @autoclosure () -> Deadline
    ) -> QueueSafeValueError? {
        let failure: QueueSafeValueError? =
            switch tryToTakeTurn(priority, waits ? spinning : .none) {
            case .taken: nil
            case .refused(let failure): failure
            case .busy where !waits: .timedOut
            case .busy: waitInLine(priority, until: deadline().time)
            }
        return failure?.reported(for: owner.valueType, "wait.\(priority)Priority")
    }

    /// Looks a few times whether a newcomer may take the turn.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - backoff: The pauses between the looks.
    ///   - inTask: Whether a task asks, which can wait for a closure of its own thread: that may have started it in
    ///     place.
    ///   - holder: Who gets the turn, if that is not the calling thread.
    /// - Returns: What it found.
    func tryToTakeTurn(
        _ priority: CommandPriority,
        _ backoff: Backoff,
        inTask: Bool = false,
        as holder: UInt64? = nil
    ) -> Attempt {
        let thread = TurnWord.currentThread
        let holder = holder ?? thread
        var backoff = backoff
        lazy var latest = submitter(of: priority).latestArrival
        while true {
            let seen = turn
            if seen.holder == thread && !inTask || isHeldByBodyOfCaller(seen, inTask: inTask) {
                return .refused(.reentrantCommand)
            }
            switch seen.admission(of: priority) {
            case .take:
                if word.exchangeAcquiring(seen.bits, for: seen.held(by: holder).bits) { return .taken }
                continue
            case .barge where deadline.isOf(priority) && frontCame(after: latest):
                let before = deadline
                guard word.exchangeAcquiring(seen.bits, for: seen.held(by: holder).bits) else { continue }
                // After the exchange: a thread may be held up before it for as long as it takes. And twice: neither the
                // front that was there before the exchange, nor one that came by then, is passed too late; nor is a
                // command of its own whose queue was late, and came by then.
                let time = now()
                if frontCame(after: latest), before.allows(priority, at: time), deadline.allows(priority, at: time) {
                    return .taken
                }
                update { waiters, effects in
                    waiters.endBarging()
                    effects.nextHolder = 0
                }
            case .barge, .spin:
                if backoff.pause() { continue }
                if seen.isFree, giveUpLateBlocks() { continue }
                return .busy
            case .queue: return .busy
            }
        }
    }

    /// The turn is free, and kept for another: it is so no more for a lane whose block is late.
    ///
    /// - Returns: Whether there was one.
    private func giveUpLateBlocks() -> Bool {
        // Who comes too early knows it without the lock, with which it would hold up the block.
        deadline.isOver(at: now())
            && update { waiters, effects in waiters.giveUpLateBlocksForNewcomer(holder: turn.holder, &effects) }
    }

    private var deadline: BargingDeadline { BargingDeadline(bits: bargingDeadline.load()) }

    /// Whether the front came after all that a newcomer has submitted, so that it passes none of that if it barges.
    ///
    /// - Parameter latest: When the latest came that it has submitted, of the priority of the front.
    /// - Returns: Whether that is so, or no lane has such a command.
    private func frontCame(after latest: @autoclosure () -> UInt64) -> Bool {
        let arrival = frontArrival.loadAcquiring()
        return arrival == 0 || arrival > latest()
    }

    /// The calling thread or task, as who submits commands of a priority.
    func submitter(of priority: CommandPriority) -> Submitter {
        Submitter(level: priority.level, line: identity)
    }

    /// Whether the command is part of an async body that has the turn: in its task, or in a closure that this awaits,
    /// which runs without a task if it had to stand in line.
    private func isHeldByBodyOfCaller(_ seen: TurnWord, inTask: Bool) -> Bool {
        guard seen.isHeldByTask else { return false }
        if TaskBody.current?.isPart(of: seen.holder) == true { return true }
        // The closure goes on when a task that it has started in place is suspended.
        return !inTask && AwaitedClosure.current?.body?.isPart(of: seen.holder) == true
    }

    /// Stands in line and parks until the turn is there, or the time is up.
    private func waitInLine(_ priority: CommandPriority, until deadline: UInt64) -> QueueSafeValueError? {
        let command = ThreadWaiter.current
        command.reuse(for: priority)
        command.block = ThreadWaiter.block
        let thread = TurnWord.currentThread
        let body = TaskBody.current
        let spins = update { waiters, _ in waiters.appendSpinning(command) }
        if spins, spin(for: command) { return command.cancellation }
        // A wait that ends is in no circle for ever.
        if deadline == .max {
            let delay = policy.circleDelay
            if delay > 0, park(command, until: now() &+ delay) { return command.cancellation }
            while WaitGraph.shared.begin(for: resource, thread: thread, body: body, if: { command.isWaiting }) == nil {
                // Whoever has cancelled it meanwhile wakes it too.
                command.parker!.park()
                // Only a parked thread is in the graph: one that looks for the turn holds locks for moments, as that
                // of the line.
                WaitGraph.shared.end(for: resource, thread: thread, body: body)
                if takeTurnInLine(command, orLeave: false) { return command.cancellation }
            }
            return takeTurnInLine(command, orLeave: true) ? command.cancellation : .circularWait
        }
        if park(command, until: deadline) || takeTurnInLine(command, orLeave: true) { return command.cancellation }
        return .timedOut
    }

    /// Spins for as long as a running thread has the turn, but not for long, and takes it then.
    ///
    /// - Returns: Whether it has the turn, or was cancelled.
    private func spin(for command: PendingCommand) -> Bool {
        var backoff = spinning
        while turn.isHeldByThread, backoff.pause() {}
        return takeTurnInLine(command, orLeave: false)
    }

    /// Parks until the turn is there, or the command is cancelled.
    ///
    /// - Returns: Whether that is so; `false` when the time is up.
    private func park(_ command: PendingCommand, until deadline: UInt64) -> Bool {
        while command.parker!.park(until: deadline) {
            if takeTurnInLine(command, orLeave: false) { return true }
        }
        return false
    }

    /// Takes the turn for a thread that stands in line, if it is next; if not, takes it out of the line if asked to.
    ///
    /// - Returns: Whether it has the turn, or was cancelled.
    private func takeTurnInLine(_ command: PendingCommand, orLeave leaves: Bool) -> Bool {
        lookForTurn(leaves ? .none : spinning) { waiters, _, mayLookAgain in
            if !command.isWaiting { return true }
            let isTaken = waiters.front === command && claimTurn(in: waiters)
            if !isTaken, mayLookAgain, waiters.successorLooks(command) { return nil }
            waiters.successorGoes(command)
            if isTaken || leaves { waiters.remove(command) } else { command.parks() }
            return isTaken
        }
    }

    /// Looks at the line until `look` answers, with pauses in which the thread that has the turn may give it back.
    func lookForTurn<Answer>(
        _ backoff: Backoff,
        _ look: (inout WaiterQueue, inout WaiterQueue.Effects, _ mayLookAgain: Bool) -> Answer?
    ) -> Answer {
        var backoff = backoff
        while true {
            let mayLookAgain = !backoff.isOver
            if let answer = update({ look(&$0, &$1, mayLookAgain) }) { return answer }
            while backoff.pause(), !turn.isFree {}
        }
    }
}

extension PendingCommand {
    /// Why a thread that is not in line any more has no turn.
    fileprivate var cancellation: QueueSafeValueError? { isWaiting ? nil : .cancelled }
}

extension TurnQueue {
    /// The pauses of a thread that looks for a turn which another running thread has.
    var spinning: Backoff { Backoff(spins: policy.spins) }
}
