//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

package import Dispatch

/// The commands that wait for the turn, in order, and the successor: the decisions of the command queue.
///
/// A pure struct without locks or atomics. `TurnQueue` calls it under the lock of the line, publishes `summary` in
/// the turn word, and performs the `Effects` after the lock is free.
///
/// Invariants, whenever the lock is free:
/// - (true successor) The successor is the front's thread or lane, or there is none.
/// - (progress) If the turn is free, somebody waits and the value is not suspended, there is a successor, and it is on
///   its way: a thread that spins or was woken, or a lane that has a block.
/// - (no eternal successor) While a lane is the successor and something else waits, or its block is present, the timer
///   runs.
/// - (grant) One block at most may begin commands without the lock: those of its lane that nothing else in line comes
///   before. It has the turn, or has freed it to tell somebody, and then one of them still waits. Those that it has
///   begun stay in line until the grant is revoked, which each change does but the submission of a command behind them.
@safe
package struct WaiterQueue {
    /// Who takes the turn next. It does not have it: a more urgent command that comes first may take it.
    package enum Successor {
        case thread(PendingCommand)
        case lane(Lane)
    }

    /// What is to be done once the lock is free.
    package struct Effects {
        package var wake: Parker?
        package var dispatch: Lane?
        /// Lanes whose blocks are dispatched early, to see whether their queues stand still too, or to call a completion.
        package var probes: [Lane] = []
        package var timer: UInt64?
        /// Who has the turn from now on, instead of the caller, in the exchange that publishes the line; 0 frees it.
        var nextHolder: UInt64?
        /// Nothing that is published has changed.
        var changesNothing = false
        package init() {}
    }

    private let policy: HandoffPolicy

    /// How many commands of target queues may wait.
    let limit: Int

    /// What tells it from other lines.
    let identity: UInt

    private(set) var threads = PriorityFIFO()
    /// The lanes that have commands and a place in line, by the first command of each.
    private var lanes = IndexedHeap<Lane>()
    private var lanesByTarget: [UInt: Lane] = [:]
    // The lane that a command came for last, which is one of those.
    private var latestIdentity: UInt = 0
    private var latestLane: Unmanaged<Lane>?

    /// The lane that has a grant.
    private var grantee: Lane?

    /// The latest queue that was late when its lane was forgotten: what was known of it counts the next time as well.
    /// If it has gone, so does it for another one at its place, once.
    private var lateQueue: (identity: UInt, delay: UInt64, room: Int)?

    private(set) var lastArrival: UInt64 = 0
    private var timerIsRunning = false

    /// When all lanes may be probed again.
    private var nextProbe: UInt64 = 0

    /// When a lane was given up last.
    package private(set) var latestGiveUp: UInt64 = 0

    /// How many commands of target queues wait, those of overdue lanes too.
    package private(set) var laneCommandCount = 0

    /// How many calls of `suspend` no `resume` has answered yet. While there are any, there is no successor.
    package var suspensions = 0

    /// Somebody listens to the changes of the value.
    var isObserved = false

    /// The latest arrival whose deadline a newcomer found to be over. Those before it need no more looks at the clock.
    private var lastBargedPast: UInt64 = 0

    /// The successor is awake and looks for the turn: none of its equals may barge.
    private var successorIsLooking = false

    package private(set) var successor: Successor? {
        didSet {
            successorIsLooking = false
            successorIdentity = successor?.identity ?? 0
        }
    }

    /// To compare it without counting references.
    private var successorIdentity: UInt = 0

    package init(policy: HandoffPolicy, limit: Int = .max, identity: UInt = 0) {
        self.policy = policy
        self.limit = limit
        self.identity = identity
    }
}

// What the turn word and the deadline say of the line.

extension WaiterQueue {
    /// The command whose turn is next. O(1).
    @inline(__always)
    package var front: PendingCommand? { unsafe frontLink?.takeUnretainedValue() }

    // Without counting references.
    @inline(__always)
    private var frontLink: PendingCommand.Link? {
        if lanes.elements.isEmpty { return unsafe threads.firstLink }
        let first = unsafe lanes.elements[0].firstLink!
        guard let thread = unsafe threads.firstLink else { return unsafe first }
        let isThread = unsafe thread._withUnsafeGuaranteedRef { thread in
            unsafe first._withUnsafeGuaranteedRef { first in thread.precedes(first) }
        }
        return unsafe isThread ? thread : first
    }

    /// The command that a lane's block, which is there, may begin next; `nil` if it is another's turn.
    ///
    /// While the turn is kept for the late block of a slow queue, those of other slow queues run equals of the front:
    /// one after the other, all of them would wait for each. Not of a thread or task that has commands before them.
    package func next(for lane: Lane) -> PendingCommand? {
        guard let front, let first = lane.first else { return nil }
        if front.runs(in: lane) { return front }
        guard front.priority == first.priority, lane.isSlow(policy) else { return nil }
        if let thread = threads.first, thread.precedes(first) { return nil }
        let time = now()
        var limit = policy.passing
        let mayPass = lanes.allBefore(lane, atMost: policy.batch) { other in
            other.mayBePassed(at: time, policy) && other.mayBePassed(by: first, &limit)
        }
        return mayPass ? first : nil
    }

    var isSuspended: Bool { suspensions > 0 }

    /// The turn word for a holder; until when newcomers may barge past the front, or who only look find a free turn kept
    /// for it; and when it came, if they might barge past commands of lanes as well, else 0.
    @inline(__always)
    func summary(holder: UInt64) -> (turn: TurnWord, deadline: BargingDeadline, arrival: UInt64) {
        var (level, deadline, arrival) = (UInt64(0), BargingDeadline.none, UInt64(0))
        if let front = unsafe frontLink {
            unsafe front._withUnsafeGuaranteedRef { front in
                level = front.priority.level
                if hasLane(asUrgentAs: front) { arrival = unsafe front.arrival }
                if unsafe front.arrival <= lastBargedPast || successorIsLooking {
                    deadline = keepingDeadline
                    return
                }
                let barging = policy.barging &* UInt64(max(threads.count, 1))
                deadline = unsafe BargingDeadline(front.priority, until: front.arrival &+ barging)
            }
        }
        let turn = TurnWord(
            holder: holder,
            waiting: level,
            hasSuccessor: successor != nil,
            isSuspended: isSuspended,
            isObserved: isObserved
        )
        return (turn, deadline, arrival)
    }

    /// Whether a lane in line has a command as urgent as the front.
    @inline(__always)
    private func hasLane(asUrgentAs front: PendingCommand) -> Bool {
        if lanes.elements.isEmpty { return false }
        return unsafe lanes.elements[0].firstLink!._withUnsafeGuaranteedRef { $0.priority == front.priority }
    }

    /// Until when a free turn is kept for a block that has not started: a newcomer that only looks need not look closer.
    /// For one that runs, a timer runs as well.
    private var keepingDeadline: BargingDeadline {
        guard case .lane(let lane) = successor, lane.isDispatched else { return .none }
        return BargingDeadline(keptUntil: lane.deadline(now: 0, policy))
    }

    /// Until when newcomers may barge past the front.
    package var bargingDeadline: BargingDeadline { summary(holder: 0).deadline }

    /// How many commands of a priority wait in line.
    package func count(of priority: CommandPriority) -> Int {
        lanesByTarget.values.reduce(threads.count(of: priority)) { count, lane in count + lane.count(of: priority) }
    }

    /// How many commands wait in line.
    package var count: Int { threads.count + laneCommandCount }

    /// Whether no other command for a target queue may wait. What a block has begun is in its lane, and waits no more.
    ///
    /// To revoke the grant would slow the block down with each command that is refused.
    var isFull: Bool {
        guard laneCommandCount >= limit else { return false }
        return laneCommandCount - (grantee?.begunCount ?? 0) >= limit
    }

    /// Whether a lane that has run so many commands in one go may run another.
    package func mayGoOn(after count: Int) -> Bool { count < policy.batch }

    /// All that wait for target queues, in no order.
    var allLanes: [Lane] { Array(lanesByTarget.values) }
}

// Commands come and go.

extension WaiterQueue {
    /// Puts the command of a thread at the end of the line, behind all of its priority.
    package mutating func append(_ command: PendingCommand) {
        command.append(at: nextArrival(now()))
        threads.append(command)
        guard let lane = lane(below: command) else { return }
        lane.blockWaits(true)
        successorGoes(lane)
    }

    /// The same for a thread that spins once more if its command is the front: the next release makes that the
    /// successor, and to wake a parked thread costs both far more. Two threads that hold the value for a microsecond,
    /// again and again, took 1.1 times as long when the front parked at once.
    ///
    /// - Returns: Whether it spins.
    package mutating func appendSpinning(_ command: PendingCommand) -> Bool {
        append(command)
        if front === command { command.spins() }
        return command.isSpinning
    }

    /// The lane whose present block is below the command of a thread on its stack.
    private func lane(below command: PendingCommand) -> Lane? {
        guard let lane = command.block, lanesByTarget[lane.identity] === lane, lane.thread == command.thread else {
            return nil
        }
        return lane
    }

    /// Puts a command for a target queue at the end of the line, behind all of its priority.
    ///
    /// A grant stays, if the command is behind what was granted.
    package mutating func append(_ command: PendingCommand, for target: DispatchQueue) {
        if latestIdentity != target.identity { findLane(for: target) }
        // Without counting references.
        unsafe latestLane!._withUnsafeGuaranteedRef { append(command, to: $0) }
    }

    /// Puts the command of a task in line, with a lane of its own.
    mutating func append(_ command: PendingCommand, with lane: Lane) {
        lanesByTarget[lane.identity] = lane
        append(command, to: lane)
    }

    private mutating func append(_ command: PendingCommand, to lane: Lane) {
        if let grantee, unsafe grantee !== lane || !command.isBehind(lane.firstLink!) { revokeGrant() }
        // In a backlog the clock is not asked: an older arrival only ends barging earlier.
        command.append(to: lane, at: nextArrival(lane.isEmpty ? now() : 0))
        lane.append(command)
        laneCommandCount += 1
        updatePlace(of: lane)
    }

    /// Takes a command out of the line.
    package mutating func remove(_ command: PendingCommand) {
        if let lane = command.lane { return remove(command, of: lane) }
        threads.remove(command)
        if laneCommandCount > 0 {
            unsafe command.parker!.leaves(line: identity, whereItCameAt: command.arrival, at: now())
        }
        lane(below: command)?.blockWaits(false)
    }

    /// Takes a command out of its lane.
    mutating func remove(_ command: PendingCommand, of lane: Lane) {
        lane.remove(command)
        laneCommandCount -= 1
        updatePlace(of: lane)
        forgetIfIdle(lane)
    }

    /// The lane's first command has changed, or its right to a place.
    private mutating func updatePlace(of lane: Lane) {
        if lane.isEmpty || lane.isOverdue { lanes.remove(lane) } else { lanes.update(lane) }
    }

    /// Takes the commands of a priority, or all, out of the line, which are cancelled.
    ///
    /// - Returns: Those of threads, which are still to be marked so, and woken; and those for target queues, where
    ///   their callers are to be told.
    mutating func removeAll(
        _ priority: CommandPriority?
    ) -> (threads: [PendingCommand], others: [(target: Lane.Target, commands: [PendingCommand])]) {
        var removed: [PendingCommand] = []
        while let command = threads.first(of: priority) {
            remove(command)
            removed.append(command)
        }
        let others = allLanes.compactMap { lane -> (target: Lane.Target, commands: [PendingCommand])? in
            var commands: [PendingCommand] = []
            while let command = lane.first(of: priority) {
                command.leave(.cancelled)
                remove(command)
                commands.append(command)
            }
            return commands.isEmpty ? nil : (lane.target, commands)
        }
        return (removed, others)
    }

    /// A manual command is complete: the next block of its lane that finds the turn free calls its completion first.
    ///
    /// - Parameters:
    ///   - call: The call of the completion.
    ///   - target: The queue of the command.
    ///   - effects: Takes in the lane if it has no block, as one is to be dispatched then.
    /// - Returns: Whether it had none, so that the call is the first that its next block makes.
    mutating func append(_ call: CompletionCall, for target: DispatchQueue, _ effects: inout Effects) -> Bool {
        if latestIdentity != target.identity { findLane(for: target) }
        let lane = unsafe latestLane!.takeUnretainedValue()
        lane.completionCalls.append(call)
        lane.claimBlock()
        if lane.hasBlock { return false }
        lane.dispatch(at: now())
        effects.probes.append(lane)
        return true
    }

    /// Makes the lane for a target queue the latest.
    private mutating func findLane(for target: DispatchQueue) {
        let identity = target.identity
        let known = lanesByTarget[identity]
        let lane = known ?? Lane(target: target)
        if known == nil, let lateQueue, lateQueue.identity == identity {
            lane.adapt(to: lateQueue.delay, room: lateQueue.room)
        }
        lanesByTarget[identity] = lane
        latestIdentity = identity
        unsafe latestLane = .passUnretained(lane)
    }

    private mutating func forgetIfIdle(_ lane: Lane) {
        if lane.isEmpty { lane.claimBlock() }
        if !lane.isIdle { return }
        lanesByTarget[lane.identity] = nil
        if latestIdentity == lane.identity { latestIdentity = 0 }
        // A task does not come back.
        guard lane.isOfQueue else { return }
        if lane.keeping(policy) > policy.keeping || lane.room != .max {
            lateQueue = (lane.identity, lane.delay, lane.room)
        } else if lateQueue?.identity == lane.identity {
            lateQueue = nil
        }
    }

    private mutating func nextArrival(_ time: UInt64) -> UInt64 {
        lastArrival = max(lastArrival + 1, time)
        return lastArrival
    }
}

// A lane begins commands without the lock.

extension WaiterQueue {
    /// Whether a lane may begin commands without the lock.
    var hasGrant: Bool { grantee != nil }

    /// Allows the block of a lane, which begins a command, to begin the next ones without the lock, if nothing else
    /// waits.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - command: The command that it begins.
    ///   - count: How many commands the block has begun.
    package mutating func grant(to lane: Lane, after command: PendingCommand, _ count: Int) {
        guard threads.isEmpty, lanes.elements.count == 1, !lane.isAsync else { return }
        if lane.grant(atMost: policy.batch - count, after: command) { grantee = lane }
    }

    /// Takes back what a lane may begin without the lock, and what it has begun out of the line.
    package mutating func revokeGrant() {
        guard let lane = grantee else { return }
        grantee = nil
        laneCommandCount -= lane.revokeGrant()
        updatePlace(of: lane)
    }
}

extension WaiterQueue {
    /// A newcomer has found that the deadline of the front is over.
    package mutating func endBarging() {
        if let front { lastBargedPast = unsafe max(lastBargedPast, front.arrival) }
    }
}

// The successor arrives.

extension WaiterQueue {
    /// The successor is here and the turn is taken.
    ///
    /// To wake it cost far more than most commands take, so it stays the successor for a moment, in which none of its
    /// equals may barge, and looks again.
    ///
    /// - Returns: Whether it is still the successor.
    package mutating func successorLooks(_ command: PendingCommand) -> Bool {
        successorIsLooking = successorIdentity == command.successorIdentity && !isSuspended
        return successorIsLooking
    }

    /// A command's thread or lane is not on its way any more.
    package mutating func successorGoes(_ command: PendingCommand) {
        if successorIdentity == command.successorIdentity { successor = nil }
    }

    /// A block of a lane runs, for the first time or again.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - block: The number of the block.
    ///   - thread: The thread that runs it.
    ///   - parker: Where that thread waits, if it ever has. A block could not come while the thread stood in this line.
    /// - Returns: Whether it is the lane's block still.
    package mutating func arrive(_ lane: Lane, block: UInt64, on thread: UInt64, _ parker: Parker? = nil) -> Bool {
        guard lane.blockNumber == block else { return false }
        switch lane.block {
        case .present: lane.arriveAgain(on: thread)
        case .dispatched(let start):
            let time = now()
            // Arrivals may be later than the clock.
            let start = min(time, start + (parker?.timeInLine(identity, since: start) ?? 0))
            lane.adapt(toBlockDispatchedAt: start, startedAt: time, latestGivenUpAt: latestGiveUp, policy)
            lane.arrive(at: time, on: thread)
        // It was given up.
        case .none: lane.arrive(at: now(), on: thread)
        }
        updatePlace(of: lane)
        return true
    }

    /// A lane's block gives the turn back, and comes again by itself when it has done what must be done without.
    package mutating func pause(_ lane: Lane, on thread: UInt64) {
        lane.arrive(at: now(), on: thread)
    }

    /// A lane's block is over.
    package mutating func leave(_ lane: Lane) {
        lane.leave()
        successorGoes(lane)
        forgetIfIdle(lane)
    }

    /// A block of a lane returns to its queue.
    package mutating func blockReturns(_ lane: Lane) {
        lane.blockReturns(at: now())
        forgetIfIdle(lane)
    }

    /// The task of a lane goes away, whose block may never have come.
    mutating func end(_ lane: Lane) {
        lane.claimBlock()
        leave(lane)
        if lane.blockCount > 0 { blockReturns(lane) }
    }

    private mutating func successorGoes(_ lane: Lane) {
        if case .lane(let other) = successor, other === lane { successor = nil }
    }

    /// The timer that `Effects` asked for has fired.
    package mutating func timerFired() {
        timerIsRunning = false
    }

    /// Whether the invariant (true successor) holds, for tests.
    package var hasTrueSuccessor: Bool { successor == nil || frontIsSuccessor && !isSuspended }
}

// The successor is chosen.

extension WaiterQueue {
    /// Makes the invariants true after any change.
    ///
    /// - Parameters:
    ///   - holder: Who has the turn; 0 if it is free.
    ///   - effects: Takes in what is to be done then.
    package mutating func chooseSuccessor(holder: UInt64, _ effects: inout Effects) {
        // As soon as possible, as this follows each submission: nothing is to be chosen, or it was.
        if successorIdentity == 0 ? holder != 0 : timerIsRunning && frontIsSuccessor && !isSuspended { return }
        // Not of a lane whose block is yet to be dispatched: time may pass while the word is exchanged in a loop.
        if effects.dispatch == nil, effects.probes.isEmpty { giveUpLateBlocks(holder: holder, &effects) }
        // A lane that has the turn and is the successor may free it without the lock: only if the timer runs.
        if !timerIsRunning, case .lane(let lane) = successor, lane.hasTurn(of: holder) { successor = nil }
        if !frontIsSuccessor || isSuspended {
            successor = nil
            if holder == 0, !isSuspended, let front { makeSuccessor(front, &effects) }
        }
        if case .lane(let lane) = successor, !timerIsRunning, mayGiveUp(lane) {
            timerIsRunning = true
            // Soon enough for any lane that is the successor by then.
            let time = now()
            effects.timer = min(lane.deadline(now: time, policy), time &+ policy.keeping)
        }
    }

    /// The successor is on its way already.
    private var frontIsSuccessor: Bool {
        guard let front = unsafe frontLink else { return false }
        return unsafe front._withUnsafeGuaranteedRef { $0.successorIdentity } == successorIdentity
    }

    /// Makes the front the successor, and has its thread woken or a block of its lane dispatched.
    ///
    /// A lane whose block is on a thread that stands in line gets another block, as that cannot come. If the queue has
    /// no room for it, the lane loses its place at once.
    private mutating func makeSuccessor(_ front: PendingCommand, _ effects: inout Effects) {
        guard let lane = front.lane else {
            successor = .thread(front)
            if !front.isSpinning { effects.wake = front.parker }
            return
        }
        lane.claimBlock()
        if lane.blockWaits {
            lane.leave()
            if !lane.hasRoom {
                let time = now()
                giveUp(lane, at: time)
                lane.dispatch(at: time)
                effects.probes.append(lane)
                return makeSuccessor(self.front!, &effects)
            }
        }
        successor = .lane(lane)
        if !lane.hasBlock {
            lane.dispatch(at: now())
            effects.dispatch = lane
        }
    }

    /// A lane whose block does not come in time loses its place, or its block, if that runs and does something else.
    ///
    /// All queues that stand still do so at once: the other lanes have been waited for as well, or are from now on. But
    /// not each time: thousands of blocks hold up the successor's, and if that made all of them come again, the value
    /// would do little else from then on.
    private mutating func giveUpLateBlocks(holder: UInt64, _ effects: inout Effects) {
        // The timer fires in time, and the clock is not asked before.
        guard !timerIsRunning, !isSuspended, case .lane(let lane) = successor, mayGiveUp(lane) else { return }
        let time = now()
        guard lane.isLate(at: time, holder: holder, policy) else {
            return dispatchSlowEquals(of: lane, at: time, &effects)
        }
        giveUpLateBlocks(with: lane, evenIfAlone: false, holder: holder, at: time, &effects)
    }

    /// A newcomer that does not stand in line has found the turn free, and kept for another after the deadline. No timer
    /// may run then, as nothing may wait beside that.
    ///
    /// - Returns: Whether that was a lane whose block is late, and has lost its place.
    mutating func giveUpLateBlocksForNewcomer(holder: UInt64, _ effects: inout Effects) -> Bool {
        endBarging()
        let time = now()
        guard !isSuspended, case .lane(let lane) = successor, lane.isLate(at: time, holder: holder, policy) else {
            return false
        }
        giveUpLateBlocks(with: lane, evenIfAlone: true, holder: holder, at: time, &effects)
        return true
    }

    private mutating func giveUpLateBlocks(
        with lane: Lane,
        evenIfAlone: Bool,
        holder: UInt64,
        at time: UInt64,
        _ effects: inout Effects
    ) {
        successor = nil
        // If it is present, its queue moves, which says nothing of the others.
        let probes = lane.isDispatched
        let probesAll = time >= nextProbe
        var late: [Lane] = []
        lanes.elements.forEach { lane in
            if lane.isLate(at: time, holder: holder, policy) {
                if lane.isPresent { lane.leave() } else { lane.claimBlock() }
                if lane.hasBlock { late.append(lane) }
            }
            if lane.hasBlock || !probes || lane.wasProbed && !probesAll { return }
            lane.dispatchProbe(at: time)
            effects.probes.append(lane)
        }
        if probes, probesAll { nextProbe = time &+ policy.probing &* UInt64(effects.probes.count) }
        for lane in late where evenIfAlone || mayGiveUp(lane) { giveUp(lane, at: time) }
    }

    /// The block of a slow queue is late, and waited for on: so are those of its equals from now on, and not one after
    /// the other.
    private func dispatchSlowEquals(of lane: Lane, at time: UInt64, _ effects: inout Effects) {
        guard let priority = lane.first?.priority, lane.mayBePassed(at: time, policy) else { return }
        for other in lanes.elements.prefix(policy.batch) where other.first!.priority == priority {
            other.claimBlock()
            if other.hasBlock || !other.isSlow(policy) { continue }
            other.dispatch(at: time)
            effects.probes.append(other)
        }
    }

    private mutating func giveUp(_ lane: Lane, at time: UInt64) {
        latestGiveUp = time
        lane.becomeOverdue()
        updatePlace(of: lane)
    }

    private func mayGiveUp(_ lane: Lane) -> Bool {
        lane.isPresent || !threads.isEmpty || lanes.elements.count > (lane.place == nil ? 0 : 1)
    }
}

extension WaiterQueue.Successor {
    fileprivate var identity: UInt {
        switch self {
        case .thread(let command): command.successorIdentity
        case .lane(let lane): unsafe UInt(bitPattern: Unmanaged.passUnretained(lane).toOpaque())
        }
    }
}
