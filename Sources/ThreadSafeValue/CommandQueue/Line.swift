//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What waits for the turn of one value, and what a release has to know of that. Guarded by the lock of the line.
struct Line {
    var waiters = WaiterHeap()

    var lanes = Lanes()

    /// Threads and tasks whose condition was not met. The next change puts them in line.
    private var watchers = ArrivalList<Waiter>()

    /// Somebody listens to changes.
    var isObserved = false

    var suspensions = 0

    /// How many commands of queues and of tasks may wait.
    let limit: Int

    /// How many commands were accepted for target queues, of each priority, and not cancelled.
    var acceptedCounts = [Int](repeating: 0, count: Int(CommandPriority.highest.level) + 1)

    /// The value has gone, and the turn word with it.
    var isOver = false

    /// When the front thread is owed the turn next; 0 when the front is none.
    private var fairTime: UInt64 = 0

    /// The timer for those who are late is set.
    var timerRuns = false

    /// The main thread waits: the main queue does not start.
    var mainThreadWaits = false

    /// A debug build has said that a thread of a task sleeps.
    var hasWarnedOfSleep = false

    private var lastArrival: UInt64 = 0

    init(limit: Int) {
        self.limit = limit
    }
}

extension Line {
    var front: Waiter? { waiters.front }

    /// What the turn word says, given who has the turn.
    func word(holder: UInt64) -> TurnWord {
        TurnWord(
            holder: holder,
            front: front,
            isCrowd: waiters.count > 1,
            isSuspended: suspensions > 0,
            isObserved: isObserved || !watchers.isEmpty
        )
    }

    /// A number that is greater than those of all that came before.
    mutating func nextArrival() -> UInt64 {
        lastArrival += 1
        return lastArrival
    }

    /// A thread or a task begins to wait, and looks for the turn.
    ///
    /// - Parameter isWatching: Whether it stands in line only after the next change.
    mutating func enter(_ waiter: Waiter, _ priority: CommandPriority, isWatching: Bool) {
        waiter.hasTurn = false
        (waiter.state.isOwed, waiter.state.isSent, waiter.state.isLooking) = (false, false, true)
        (waiter.state.refusal, waiter.state.isWaiting) = (nil, true)
        (waiter.state.priority, waiter.state.isWatching) = (priority, isWatching)
        if isWatching {
            watchers.append(waiter)
        } else {
            waiters.insert(waiter, priority, arrival: nextArrival())
        }
    }

    /// A thread or a task waits no more.
    mutating func leave(_ waiter: Waiter) {
        waiter.state.isWaiting = false
        waiter.leavesGraph()
        if waiter.state.isWatching { watchers.remove(waiter) } else { waiters.remove(waiter) }
    }

    /// The value has changed: all that wait for a condition stand in line.
    mutating func wakeWatchers() {
        var woken: [Waiter] = []
        watchers.removeAll { woken.append($0) }
        for waiter in woken {
            waiter.state.isWatching = false
            waiters.insert(waiter, waiter.priority, arrival: nextArrival())
        }
    }

    /// Puts a lane in line, at the place of its first command, or takes it out if it has none.
    mutating func place(_ lane: Lane) {
        waiters.remove(lane)
        if let first = lane.commands.dropCancelledAndGetFirst() { waiters.insert(lane, first.priority, arrival: first.arrival) }
    }

    /// Puts a late task in line again, at its old place.
    mutating func placeAgain(_ task: Waiter) {
        if !task.isInLine { waiters.insert(task, task.priority, arrival: task.arrival) }
    }

    /// Takes out a thread or a task that has not got the turn.
    ///
    /// - Returns: Whether it is to be woken. One that was handed the turn keeps it.
    mutating func refuse(_ waiter: Waiter, _ error: QueueSafeValueError) -> Bool {
        guard waiter.state.isWaiting, !waiter.hasTurn else { return false }
        waiter.state.refusal = error
        leave(waiter)
        if waiter.state.isLooking || waiter.state.isSent { return false }
        waiter.state.isSent = true
        return true
    }

    /// Rule 4: the front thread is owed the turn at most once in a quarter of a millisecond, however many wait.
    mutating func judgeFront() {
        guard let front, !front.isLane else {
            fairTime = 0
            return
        }
        if front.state.isOwed { return }
        let time = now()
        if fairTime == 0 { fairTime = time + HandoffPolicy.fair }
        guard time >= fairTime else { return }
        front.state.isOwed = true
        fairTime = time + HandoffPolicy.fair
    }

    /// The threads and tasks in line.
    func callers(_ priority: CommandPriority?) -> [Waiter] {
        waiters.all.filter { $0.kind != .queue && (priority == nil || $0.priority == priority) }
    }
}
