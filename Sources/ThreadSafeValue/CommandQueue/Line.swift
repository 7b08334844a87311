//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// What waits for the turn of one value, and what a release has to know of that. Guarded by the lock of the line.
struct Line {
    /// What stands in line. Changed by `insert` and `remove` only.
    private(set) var waiters = IndexedHeap<Waiter>()

    /// How many are lanes of queues, of each priority, and how many are threads.
    private(set) var laneCounts = [Int](repeating: 0, count: Int(CommandPriority.highest.rawValue) + 1)
    private(set) var threadCount = 0

    /// The lanes that have commands or a block, by the identity of their target queues.
    private(set) var lanes: [UInt: Lane] = [:]

    /// The one that was looked for last, which is mostly the one that is looked for next.
    private var latestLane: Lane?

    /// Threads and tasks whose condition was not met. The next change puts them in line.
    private var watchers = ArrivalList<Waiter>()

    /// How many commands of queues and of tasks may wait.
    let limit: Int

    /// How many commands were accepted for target queues, and not cancelled.
    var acceptedCount = 0

    var suspensions = 0

    /// Somebody listens to changes.
    var isListenedTo = false

    /// The value has gone, and the turn word with it.
    var isOver = false

    /// When the front thread is owed the turn next; `.max` when the front is none.
    private var fairTime = UInt64.max

    /// The timer for what is late is set.
    var timerRuns = false

    /// The identity of the main queue, while the main thread waits: that queue does not start.
    var targetOfMainThread: UInt?

    /// A debug build has said that a thread of a task sleeps.
    var hasWarnedOfSleep = false

    private var lastArrival: UInt64 = 0

    /// What follows from the change that is made now.
    var effects = Effects()

    init(limit: Int) {
        self.limit = limit
    }

    /// What follows from a change of the line.
    struct Effects {
        /// What has the turn from now on, if that changes; 0 frees it.
        var holder: UInt64?

        /// The turn word says already what it has to.
        var changesNothing = false

        /// What is to be woken without the lock.
        var woken: [Waiter] = []
    }
}

extension Line {
    var front: Waiter? { waiters.elements.first }

    /// How many threads and tasks are in line.
    var callerCount: Int { waiters.elements.count - laneCounts.reduce(0, +) }

    /// The threads and tasks in line.
    func callers(_ priority: CommandPriority? = nil) -> [Waiter] {
        waiters.elements.filter { $0.kind != .queue && (priority == nil || $0.state.priority == priority) }
    }

    /// Whether a change is told: to listeners, or to commands that wait for a condition.
    var isObserved: Bool { isListenedTo || !watchers.isEmpty }

    /// A number that is greater than those of all that came before.
    mutating func nextArrival() -> UInt64 {
        lastArrival += 1
        return lastArrival
    }

    /// Puts a waiter at its place, if it is not there.
    mutating func insert(_ waiter: Waiter) {
        if waiter.isInLine { return }
        waiters.insert(waiter)
        count(waiter, by: 1)
    }

    /// Takes a waiter out, if it is there.
    mutating func remove(_ waiter: Waiter) {
        if !waiter.isInLine { return }
        waiters.remove(waiter)
        count(waiter, by: -1)
    }

    private mutating func count(_ waiter: Waiter, by number: Int) {
        if waiter.kind == .queue { laneCounts[Int(waiter.state.priority.rawValue)] += number }
        if waiter.kind == .thread { threadCount += number }
    }

    /// A thread or a task begins to wait, and looks for the turn.
    ///
    /// - Parameters:
    ///   - waiter: The thread or the task.
    ///   - priority: How early it gets its turn.
    ///   - isWatching: Whether it stands in line only after the next change.
    mutating func enter(_ waiter: Waiter, _ priority: CommandPriority, isWatching: Bool) {
        let arrival = nextArrival()
        waiter.state = Waiter.State(priority: priority, arrival: arrival, isWatching: isWatching, isSent: true)
        guard isWatching else { return insert(waiter) }
        watchers.append(waiter)
        // It has the turn, and gives it back in the same step, so it misses no change.
        effects.holder = 0
    }

    /// A thread or a task waits no more.
    mutating func leave(_ waiter: Waiter) {
        waiter.state.isLate = false
        waiter.leaveGraph()
        if waiter.state.isWatching { watchers.remove(waiter) } else { remove(waiter) }
    }

    /// The value has changed: all that wait for a condition stand in line.
    mutating func wakeWatchers() {
        for case let waiter? in watchers.elements {
            watchers.remove(waiter)
            waiter.state.isWatching = false
            waiter.state.arrival = nextArrival()
            insert(waiter)
        }
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
        if lane.state.isSent || !lane.isEmpty { return }
        lanes[lane.target.identity] = nil
        if latestLane === lane { latestLane = nil }
    }

    /// The value goes away: nothing stands in line any more.
    ///
    /// - Returns: The lanes, each of which keeps the turns.
    mutating func end() -> [Lane] {
        defer { (isOver, lanes, latestLane) = (true, [:], nil) }
        for lane in lanes.values { remove(lane) }
        return Array(lanes.values)
    }

    /// Puts a waiter in line: a lane at the place of its first command, or nowhere if it has none.
    mutating func place(_ waiter: Waiter) {
        if let lane = waiter.lane {
            remove(lane)
            guard let first = unsafe lane.commands.dropCancelledAndGetFirst() else { return }
            (lane.state.priority, lane.state.arrival) = unsafe (first.priority, first.arrival)
        }
        insert(waiter)
    }

    /// Rule 4: the front thread is owed the turn at most once in a quarter of a millisecond, however many wait.
    mutating func judgeFront() {
        guard let front, front.kind == .thread else { return fairTime = .max }
        if front.state.isOwed { return }
        let time = now()
        front.state.isOwed = time >= fairTime
        if fairTime == .max || front.state.isOwed { fairTime = time + HandoffPolicy.fair }
    }
}
