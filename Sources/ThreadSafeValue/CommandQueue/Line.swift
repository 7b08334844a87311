//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The line of waiters for the turn of one value, and the turn word, which sums it up: all that the lock of the line guards.
///
/// The line decides: its methods return, or note in `actions`, what is to be done without the lock. It runs nothing, and
/// whoever has it `inout` has the lock.
struct Line: ~Copyable {
    /// The turn word, in the storage of the value.
    let word: AtomicWord

    /// How many commands of target queues have begun, in the storage of the value.
    let startedCount: AtomicWord

    /// Counts changes of the order of those in line.
    let reorderings: Reorderings

    /// How many commands of queues and of tasks may wait.
    let limit: Int

    /// The waiters in line. Only `insert` and `remove` change them.
    private(set) var waiters = IndexedHeap<Waiter>()

    /// How many are lanes of queues, of each priority; how many are threads; how many threads of tasks wait, for a change
    /// too.
    private var laneCounts = [Int](repeating: 0, count: Int(CommandPriority.highest.rawValue) + 1)
    private(set) var threadCount = 0
    private(set) var taskThreadCount = 0

    /// How many threads in line run a block of a queue that was late, by its identity.
    private var owns: [UInt: (queue: OwnQueue, count: Int)] = [:]

    /// The lanes that have commands or a block, by the identity of their target queues.
    private(set) var lanes: [UInt: Lane] = [:]

    /// The lane that was looked for last, which is mostly the one that is looked for next.
    private var latestLane: Lane?

    /// Threads and tasks whose condition was not met. The next change puts them in line.
    private(set) var watchers = ArrivalList<Waiter>()

    /// Tasks that are late.
    private(set) var lateTasks = ArrivalList<Waiter>()

    /// How many commands were accepted for target queues, and not cancelled.
    var acceptedCount = 0

    var suspensions = 0

    /// Somebody listens to changes.
    var isListenedTo = false

    /// The value has gone, and the turn word with it.
    private(set) var isOver = false

    /// Says when the front thread is owed the turn.
    private var fairness = FairnessClock()

    /// The timer for what is late is set.
    var timerRuns = false

    /// A debug build has said that a thread sleeps which others need.
    var hasWarnedOfSleep = false

    private var lastArrival: UInt64 = 0

    // The effects of the change that is made now, until `publish`.

    /// The holder of the turn from now on, if that changes; 0 frees the turn.
    var holder: UInt64?

    /// The turn word says already what it has to.
    var isUnchanged = false

    /// The things to do once the lock is free, in this order.
    var actions: [Action] = []

    init(word: AtomicWord, startedCount: AtomicWord, reorderings: Reorderings, limit: Int) {
        (self.word, self.startedCount, self.reorderings, self.limit) = (word, startedCount, reorderings, limit)
    }

    enum Action {
        /// Wakes a thread or a task.
        case wake(Waiter)

        /// Dispatches a block, for which the value is kept.
        case dispatch(BlockRun)

        /// Tells of the end of a manual command on its target queue, before another block of the lane comes there.
        case tell(AcceptedCommand)

        /// Lets the blocks of a target queue that was late know the queue that they run on.
        case mark(DispatchQueue)

        /// Lifts the priority of the task whose async closure has the turn.
        case liftHolder(to: UInt8)

        /// Looks at the line again, at a time.
        case look(at: UInt64)
    }
}

/// How often a command has come back that was late, or has another priority. A block that has the turn looks at the
/// line then, as the turn word may be what it was.
final class Reorderings: @unchecked Sendable {
    // First, so that its address is known.
    private var bits = AtomicWord.zero

    var count: UInt64 { AtomicWord(firstIn: self).load() }

    /// Counts one more. Under the lock of the line.
    func note() { AtomicWord(firstIn: self).increment() }
}

extension Line {
    var front: Waiter? { waiters.elements.first }

    var turn: TurnWord { TurnWord(bits: word.load()) }

    /// Whether a change is told: to listeners, or to commands that wait for a condition.
    var isObserved: Bool { isListenedTo || !watchers.isEmpty }

    /// Whether a lane of a priority stands in line.
    func hasLane(_ priority: CommandPriority) -> Bool { laneCounts[Int(priority.rawValue)] > 0 }

    /// The next waiter behind the front.
    var second: Waiter? { waiters.elements.dropFirst().prefix(2).min { $0.precedes($1) } }

    /// When the second in line came, if it has a priority; else `.max`.
    func arrivalOfSecond(_ priority: CommandPriority) -> UInt64 {
        if let second, second.state.priority == priority { second.state.arrival } else { .max }
    }

    /// The threads and tasks that wait, but for those that wait for a change.
    func callers(_ priority: CommandPriority? = nil) -> [Waiter] {
        (waiters.elements + lateTasks.elements.compactMap { $0 }).filter {
            $0.kind != .queue && (priority == nil || $0.state.priority == priority)
        }
    }

    /// How many commands have not begun: threads and tasks, and those of target queues.
    func pendingCount(_ priority: CommandPriority? = nil) -> Int {
        guard let priority else { return threadCount + pendingCountWithoutThreads }
        return lanes.values.reduce(callers(priority).count) { $0 + $1.waiting(priority).count }
    }

    // A call that is not inlined copies the bytes of the line to the stack.
    @inline(__always) private var pendingCountWithoutThreads: Int {
        let tasks = waiters.elements.count - threadCount - laneCounts.reduce(0, +) + lateTasks.count
        return tasks + acceptedCount - Int(startedCount.load())
    }

    /// Whether no more commands of queues and of tasks may wait. Threads do not count.
    var isFull: Bool { limit != .max && pendingCountWithoutThreads >= limit }  // fault: a full value takes one more

    /// A number that is greater than those of all that came before.
    mutating func nextArrival() -> UInt64 {
        lastArrival += 1
        return lastArrival
    }

    /// Puts a waiter that stands nowhere at its place.
    private mutating func insert(_ waiter: Waiter) {
        waiter.state.standing = .inLine
        waiters.insert(waiter)
        count(waiter, by: 1)
    }

    /// Takes a waiter out of where it stands.
    private mutating func remove(_ waiter: Waiter) {
        switch waiter.state.standing {
        case .away: return
        case .inLine:
            waiters.remove(waiter)
            count(waiter, by: -1)
        case .watching: watchers.remove(waiter)
        case .late: if waiter.kind == .task { lateTasks.remove(waiter) }
        }
        waiter.state.standing = .away
    }

    private mutating func count(_ waiter: Waiter, by number: Int) {
        if waiter.kind == .queue { laneCounts[Int(waiter.state.priority.rawValue)] += number }
        if waiter.kind != .thread { return }
        threadCount += number
        guard let own = waiter.state.own else { return }
        let count = (owns[own.identity]?.count ?? 0) + number
        owns[own.identity] = count == 0 ? nil : (own, count)
    }

    /// The lane's queue, if a thread that runs a block of it stands in line.
    func own(of lane: Lane) -> OwnQueue? { owns.isEmpty ? nil : owns[lane.target.identity]?.queue }

    /// A thread or a task begins to wait.
    ///
    /// - Parameters:
    ///   - waiter: The thread or the task, whose state says how it waits.
    ///   - isWatching: Whether it has the turn, gives that back, and stands in line only after the next change.
    mutating func enter(_ waiter: Waiter, isWatching: Bool) {
        waiter.state.arrival = nextArrival()
        waiter.state.needsNoWake = true
        if waiter.state.task != 0 { taskThreadCount += 1 }
        if isWatching {
            waiter.state.standing = .watching
            watchers.append(waiter)
            // In the same step, so the waiter misses no change.
            holder = 0
        } else {
            insert(waiter)
            if !timerRuns { passLate() }
            if let own = waiter.state.own, let lane = lanes[own.identity] { passIfStanding(lane) }
        }
    }

    /// A thread or a task waits no more.
    mutating func leave(_ waiter: Waiter) {
        remove(waiter)
        if waiter.state.task != 0 { taskThreadCount -= 1 }
        if waiter.state.isRegistered { WaitGraph.shared.end(waiter.waiting) }
        waiter.state.isRegistered = false
    }

    /// Takes out a thread or a task that waits, and wakes it.
    mutating func refuse(_ waiter: Waiter, _ error: QueueSafeValueError) {
        guard waiter.state.standing != .away else { return }
        waiter.state.refusal = error
        leave(waiter)
        if !waiter.state.needsNoWake { actions.append(.wake(waiter)) }
        waiter.state.needsNoWake = true
    }

    /// The wait of a thread or a task may close a circle: if so, it is refused; else it stands in the graph from now on.
    mutating func refuseIfCircular(_ waiter: Waiter, for resource: WaitGraph.Resource) {
        guard waiter.state.standing != .away, WaitGraph.shared.begin(for: resource, by: waiter.waiting) == nil else {
            return refuse(waiter, .circularWait)
        }
        waiter.state.isRegistered = true
    }

    /// The value has changed: all that wait for a condition stand in line.
    mutating func wakeWatchers() {
        for case let waiter? in watchers.elements {
            remove(waiter)
            waiter.state.arrival = nextArrival()
            insert(waiter)
        }
    }

    /// Puts a waiter in line: a lane at the place of its first command, or nowhere if it has none.
    mutating func reinsert(_ waiter: Waiter) {
        remove(waiter)
        if let lane = waiter.lane {
            guard let first = lane.commands.dropCancelledAndGetFirst() else { return }
            (lane.state.priority, lane.state.arrival) = (first.priority, first.members.arrival)
        }
        insert(waiter)
    }

    /// A lane whose first command is not known takes the place of another command, if that comes first.
    ///
    /// - Returns: Whether the lane moved.
    @discardableResult
    mutating func moveUp(_ lane: Lane, to place: (priority: CommandPriority, arrival: UInt64)) -> Bool {
        let old = (lane.state.priority, lane.state.arrival)
        guard place.priority > old.0 || place.priority == old.0 && place.arrival < old.1 else { return false }
        remove(lane)
        (lane.state.priority, lane.state.arrival) = place
        insert(lane)
        return true
    }

    /// Takes a waiter that is late out of the line until it arrives.
    mutating func makeLate(_ waiter: Waiter) {
        waiter.state.isOwed = false
        waiter.state.patience.runOut()
        remove(waiter)
        waiter.state.standing = .late
        if waiter.kind == .task { lateTasks.append(waiter) }
    }

    /// The lane of a target queue; a new one if there is none. O(1).
    mutating func lane(for target: DispatchQueue, of turns: TurnQueue) -> Lane {
        let identity = target.identity
        if let latestLane, latestLane.target.identity == identity { return latestLane }
        let lane = lanes[identity] ?? Lane(target: target, of: turns)
        (lanes[identity], latestLane) = (lane, lane)
        return lane
    }

    /// Lets go of a lane, and so of its target queue, if it has no command and no block.
    mutating func removeIfIdle(_ lane: Lane) {
        if lane.running != nil || !lane.commands.isEmpty { return }
        remove(lane)
        lanes[lane.target.identity] = nil  // fault: an idle lane stays
        if latestLane === lane { latestLane = nil }
    }

    /// Takes back one suspension. With the last, all that were sent for have their full time again (rule 7).
    ///
    /// - Returns: Whether there was one.
    mutating func resume() -> Bool {
        guard suspensions > 0 else { return false }
        suspensions -= 1
        guard suspensions == 0 else { return true }
        let time = now()
        for waiter in waiters.elements where waiter.state.dueTime != .max { waiter.noteSent(at: time) }
        return true
    }

    /// The value goes away: nothing stands in line any more.
    ///
    /// - Returns: The lanes, each of which keeps the turns.
    mutating func end() -> [Lane] {
        defer { (isOver, lanes, latestLane) = (true, [:], nil) }
        for lane in lanes.values { remove(lane) }
        return Array(lanes.values)
    }

    /// Rule 4: the front thread is owed the turn at most once in a quarter of a millisecond, however many wait.
    mutating func oweFrontIfDue() {
        guard let front, front.kind == .thread, !front.state.isOwed else { return }
        front.state.isOwed = fairness.isDue(since: front.state.sentTime, at: now())
    }
}
