//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A waiter stands in line for a turn: a thread, a task, or a lane with the commands for one target queue.
///
/// A task and a lane have to be started first, so a task waits like a lane with one command.
class Waiter: @unchecked Sendable {
    enum Kind { case thread, task, queue }

    enum Standing {
        /// The waiter waits for nothing.
        case away
        case inLine
        /// The waiter waits for a change, and stands in line after that.
        case watching
        /// The waiter has no place in line until it arrives.
        case late
    }

    let kind: Kind

    /// The holder, when a thread or a task has the turn.
    let identity: UInt64

    /// All that the line knows of a waiter. The lock of the line guards it.
    struct State {
        /// How early the waiter gets its turn. Changes only while it is not in line, as does `arrival`.
        var priority = CommandPriority.lowest

        /// When the waiter came, or its first command: decides among equals.
        var arrival: UInt64 = 0

        var standing = Standing.away

        /// The waiter is on its way, or looks for the turn itself, or the block of its lane runs: no release sends for it.
        var needsNoWake = false

        /// The waiter came in vain, or has waited for long: while it is the front, no newcomer takes the turn (rule 4).
        var isOwed = false

        /// When the waiter was sent for; of a thread, when it came.
        var sentTime: UInt64 = 0

        /// When the block or the task is late, if it has not come by then; `.max` if it is not on its way.
        var dueTime = UInt64.max

        var patience = Patience()

        /// Why a thread or a task does not get the turn.
        var refusal: QueueSafeValueError?

        /// The waiter stands in the graph of waits.
        var isRegistered = false

        /// The task in which a thread waits, or 0.
        var task: UInt64 = 0

        /// The priority with which a task waits: it lifts that of an async closure that has the turn.
        var taskPriority: UInt8?

        /// The queue whose block the waiting thread runs.
        var own: OwnQueue?
    }

    // The accesses are short and never overlap on a thread, so none is tracked: that would take longer than they do.
    @safe @exclusivity(unchecked) final var state = State()

    /// The index in the line, or in the list of those that wait for a change, or of late tasks. Guarded as well.
    @safe @exclusivity(unchecked) package final var place: Int?

    init(_ kind: Kind, identity: UInt64) { (self.kind, self.identity) = (kind, identity) }

    /// Wakes the thread, or resumes the task.
    func wake() {}

    /// The entry of this waiter in the graph of waits.
    var waiting: WaitGraph.Waiting { WaitGraph.Waiting(task: identity & identityBits) }
}

/// How a wait goes on: the line says so once, and nothing has to find it out again.
enum WaitEnd {
    case hasTurn
    case refused(QueueSafeValueError)
    /// The waiter looks again, or sleeps until it is woken.
    case mayTry
}

extension WaitEnd {
    var failure: QueueSafeValueError? { if case .refused(let error) = self { error } else { nil } }
}

extension Waiter: Ordered {
    /// The most urgent first, among equals the first that came.
    package final func precedes(_ other: Waiter) -> Bool {
        state.priority == other.state.priority
            ? state.arrival < other.state.arrival : state.priority > other.state.priority
    }
}

extension Waiter {
    /// The commands of a target queue.
    var lane: Lane? { kind == .queue ? unsafe unsafeDowncast(self, to: Lane.self) : nil }

    /// The waiter is sent for now.
    func noteSent(at time: UInt64) {
        state.needsNoWake = true
        (state.sentTime, state.dueTime) = (time, time + state.patience.time)
    }
}
