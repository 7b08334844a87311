//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What stands in line for a turn: a thread, a task, or a lane with the commands for one target queue.
///
/// A task and a lane have to be started first, so a task is a lane with one command.
@safe
class Waiter: @unchecked Sendable {
    /// What waits.
    enum Kind {
        case thread, task, queue
    }

    // First, so that its address is known.
    private var turnBits = AtomicWord.zero

    let kind: Kind

    /// The holder, when this has the turn.
    var identity: UInt64 = 0

    /// What the line knows of it. Guarded by the lock of the line.
    struct State {
        /// How early it gets its turn. Changes only while it is not in line.
        var priority = CommandPriority.lowest

        /// When it came, or its first command: decides among equals.
        fileprivate(set) var arrival: UInt64 = 0

        /// Its place in the heap of its priority, or in the list of those that wait for a change.
        var place: Int?

        /// It waits for a change, and stands in line after that.
        var isWatching = false

        /// It is on its way: no release has to send for it.
        var isSent = false

        /// It came in vain, or has waited for long: the next release hands it the turn.
        var isOwed = false

        /// It looks for the turn itself: nothing has to wake it, and it cannot be late.
        var isLooking = false

        /// Since when its block or its task is on its way, in nanoseconds of `now()`; 0 if it is not.
        var sentTime: UInt64 = 0

        /// For how long it may be so while something else waits.
        var patience = HandoffPolicy.late

        /// It has no place in line until it comes.
        var isLate = false

        /// Why a thread or a task does not get the turn.
        var refusal: QueueSafeValueError?

        /// A thread or a task waits: in line, for a change, or for its late task.
        var isWaiting = false

        /// It stands in the graph of waits.
        var isRegistered = false
    }

    // Its accesses are short and never overlap on a thread, so none is tracked: that would take twice as long as they do.
    @exclusivity(unchecked) private var uncheckedState = State()

    @inline(__always)
    var state: State {
        get { unsafe uncheckedState }
        _modify { yield unsafe &uncheckedState }
    }

    init(kind: Kind) {
        self.kind = kind
    }

    /// Wakes the thread, or resumes the task. The line dispatches the block of a lane itself.
    func wake() {}

    /// What stands in the graph of waits for this.
    var waiting: WaitGraph.Waiting { WaitGraph.Waiting(task: identity & identityBits) }
}

extension Waiter: Placed {}

extension Waiter {
    /// It was handed the turn.
    var hasTurn: Bool {
        get { AtomicWord(firstIn: self).loadAcquiring() != 0 }
        set { AtomicWord(firstIn: self).storeReleasing(newValue ? 1 : 0) }
    }

    var lane: Lane? { kind == .queue ? unsafe unsafeDowncast(self, to: Lane.self) : nil }

    /// It has to be started first.
    var isLane: Bool { kind != .thread }

    var priority: CommandPriority { state.priority }

    var arrival: UInt64 { state.arrival }

    package var place: Int? {
        get { state.place }
        set { state.place = newValue }
    }

    var isInLine: Bool { state.place != nil && !state.isWatching }

    /// It came, and did not get the turn.
    func cameInVain() {
        state.isOwed = true
        state.isSent = false
        state.patience = min(max(state.patience * 2, HandoffPolicy.firstPatience), HandoffPolicy.lastPatience)
    }

    /// It waits no more. If it was handed the turn, it does this itself.
    func leavesGraph() {
        if state.isRegistered { WaitGraph.shared.end(waiting) }
        state.isRegistered = false
    }

    fileprivate func precedes(_ other: Waiter) -> Bool { arrival < other.arrival }
}

/// Waiters in order of priority, then of arrival: a heap for each priority, as lanes come back to old places.
///
/// A plain struct without a lock.
struct WaiterHeap {
    // Made with the first waiter.
    private var heaps: [[Waiter]] = []
    private var occupied: UInt64 = 0

    private(set) var count = 0

    /// How many of them have to be started first.
    private(set) var laneCount = 0

    /// How many of them are threads and tasks.
    private(set) var callerCount = 0

    init() {}
}

extension WaiterHeap {
    /// The waiter whose turn is next.
    var front: Waiter? {
        occupied == 0 ? nil : heaps[UInt64.bitWidth - 1 - occupied.leadingZeroBitCount][0]
    }

    /// All waiters, in no order.
    var all: [Waiter] { Array(heaps.joined()) }

    /// Adds a waiter at its place. O(log n) in the number of those of its priority.
    mutating func insert(_ waiter: Waiter, _ priority: CommandPriority, arrival: UInt64) {
        if heaps.isEmpty { heaps = Array(repeating: [], count: Int(CommandPriority.highest.level) + 1) }
        (waiter.state.priority, waiter.state.arrival) = (priority, arrival)
        let level = Int(priority.level)
        heaps[level].append(waiter)
        moveUp(level, heaps[level].count - 1, waiter)
        occupied |= 1 << priority.level
        change(waiter, by: 1)
    }

    /// Takes a waiter out, if it is there.
    mutating func remove(_ waiter: Waiter) {
        guard waiter.isInLine, let place = waiter.place else { return }
        waiter.place = nil
        let level = Int(waiter.priority.level)
        let last = heaps[level].removeLast()
        if last !== waiter {
            moveDown(level, place, last)
            moveUp(level, last.place!, last)
        }
        if heaps[level].isEmpty { occupied &= ~(1 << waiter.priority.level) }
        change(waiter, by: -1)
    }

    private mutating func change(_ waiter: Waiter, by number: Int) {
        count += number
        if waiter.isLane { laneCount += number }
        if waiter.kind != .queue { callerCount += number }
    }

    private mutating func moveUp(_ level: Int, _ start: Int, _ waiter: Waiter) {
        var place = start
        while place > 0, waiter.precedes(heaps[level][(place - 1) / 2]) {
            put(heaps[level][(place - 1) / 2], level, place)
            place = (place - 1) / 2
        }
        put(waiter, level, place)
    }

    private mutating func moveDown(_ level: Int, _ start: Int, _ waiter: Waiter) {
        var place = start
        while true {
            let left = 2 * place + 1
            if left >= heaps[level].count { break }
            let right = min(left + 1, heaps[level].count - 1)
            let child = heaps[level][right].precedes(heaps[level][left]) ? right : left
            if waiter.precedes(heaps[level][child]) { break }
            put(heaps[level][child], level, place)
            place = child
        }
        put(waiter, level, place)
    }

    private mutating func put(_ waiter: Waiter, _ level: Int, _ place: Int) {
        heaps[level][place] = waiter
        waiter.place = place
    }
}

/// The numbers of the rules, in one place. Times are in nanoseconds. Today's values, and no promise.
enum HandoffPolicy {
    /// How long a block or a task may be on its way while something else waits (rule 5).
    static let late: UInt64 = 5_000_000

    /// How long one that came in vain is waited for, and how long at most, as each time in vain doubles it (rule 5).
    static let firstPatience: UInt64 = 50_000_000
    static let lastPatience: UInt64 = 1_000_000_000

    /// How often a waiting thread is owed the turn, at most (rule 4).
    static let fair: UInt64 = 250_000

    /// How many commands a block runs before other work of its queue gets a chance (rule 6).
    static let batch = 64

    /// For how long a thread sleeps before it looks whether it waits in a circle. Hardly any sleeps so long, so the
    /// graph of all waits, which has one lock, costs the others nothing.
    static let circle: UInt64 = 10_000_000
}
