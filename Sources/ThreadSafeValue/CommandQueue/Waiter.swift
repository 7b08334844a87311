//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What stands in line for a turn: a thread, a task, or a lane with the commands for one target queue.
///
/// A task and a lane have to be started first, so a task is a lane with one command.
class Waiter: @unchecked Sendable {
    /// What waits.
    enum Kind {
        case thread, task, queue
    }

    let kind: Kind

    /// The holder, when this has the turn.
    let identity: UInt64

    /// What the line knows of it. Guarded by the lock of the line.
    struct State {
        /// How early it gets its turn. Changes only while it is not in line, as does `arrival`.
        var priority = CommandPriority.lowest

        /// When it came, or its first command: decides among equals.
        var arrival: UInt64 = 0

        /// Its place in the line, or in the list of those that wait for a change.
        var place: Int?

        /// It waits for a change, and stands in line after that.
        var isWatching = false

        /// It is on its way, or looks for the turn itself, or the block of its lane runs: no release sends for it.
        var isSent = false

        /// It came in vain, or has waited for long: the next release hands it the turn.
        var isOwed = false

        /// When its block or its task is late, if it has not come by then; `.max` if it is not on its way.
        var dueTime = UInt64.max

        /// For how long it may be on its way while something else waits. Longer each time that it comes in vain.
        var patience = HandoffPolicy.late

        /// It has no place in line until it comes.
        var isLate = false

        /// Why a thread or a task does not get the turn.
        var refusal: QueueSafeValueError?

        /// It stands in the graph of waits.
        var isRegistered = false
    }

    // The accesses are short and never overlap on a thread, so none is tracked: that would take longer than they do.
    @exclusivity(unchecked) private var uncheckedState = State()

    @inline(__always)
    final var state: State {
        get { unsafe uncheckedState }
        _modify { yield unsafe &uncheckedState }
    }

    init(_ kind: Kind, identity: UInt64) {
        self.kind = kind
        self.identity = identity
    }

    /// Wakes the thread, resumes the task, dispatches the block.
    func wake() {}

    /// What stands in the graph of waits for this.
    var waiting: WaitGraph.Waiting { WaitGraph.Waiting(task: identity & identityBits) }
}

extension Waiter: Ordered {
    package final var place: Int? {
        get { state.place }
        set { state.place = newValue }
    }

    /// The most urgent first, among equals the first that came.
    package final func precedes(_ other: Waiter) -> Bool {
        state.priority == other.state.priority
            ? state.arrival < other.state.arrival : state.priority > other.state.priority
    }
}

extension Waiter {
    /// The commands of a target queue.
    var lane: Lane? { kind == .queue ? unsafe unsafeDowncast(self, to: Lane.self) : nil }

    /// A thread or a task waits: in line, for a change, or without a place as it is late.
    var isWaiting: Bool { state.place != nil || state.isLate }

    var isInLine: Bool { state.place != nil && !state.isWatching }

    /// It came, and did not get the turn.
    func cameInVain() {
        state.isOwed = true
        state.patience = min(max(state.patience * 2, HandoffPolicy.firstPatience), HandoffPolicy.lastPatience)
    }

    /// It waits no more. If it was handed the turn, it does this itself.
    func leaveGraph() {
        if state.isRegistered { WaitGraph.shared.end(waiting) }
        state.isRegistered = false
    }
}

/// The numbers of the rules, in one place. Times are in nanoseconds. Today's values, and no promise.
enum HandoffPolicy {
    /// How long a block or a task may be on its way while something else waits, and how often the timer looks (rule 5).
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
