//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What the one atomic word of a command queue says. A pure value: `TurnQueue` reads and exchanges it.
///
/// ```
/// 63, 55 … 4  holder     who has the turn: a thread, `detached`, a `TaskBody`, or 0 when the turn is free
/// 57          observed   somebody listens to changes: whoever gives the turn back tells
/// 56          suspended  nobody takes the turn, free or not
/// 3           successor  the successor is chosen and on its way to take the turn: a release need wake nobody
/// 2 … 0       waiting    the highest priority that waits in line, 0 when nobody does
/// ```
///
/// The holder stands where the bits of a thread's identity do, so that the fast path does not move them.
///
/// The holder is set by whoever takes the turn and cleared by whoever has it, with no lock. The other bits are the
/// summary of the `WaiterQueue` and change under its lock only.
///
/// Invariant (true summary): while the turn is free, the summary is that of the line.
@usableFromInline
struct TurnWord: Equatable {
    @usableFromInline
    var bits: UInt64

    @inlinable
    init(bits: UInt64) {
        self.bits = bits
    }
}

extension TurnWord {
    /// The word of a free turn for which nobody waits.
    @inlinable
    @_transparent
    static var idle: UInt64 { 0 }

    /// The holder of a manual command whose closure has returned: no thread, until its `done` is called.
    @inlinable
    static var detached: UInt64 { 1 << 4 }

    /// The calling thread, as a holder. It is also the whole word of a turn that this thread has alone.
    @inlinable
    @_transparent
    static var currentThread: UInt64 { currentThreadIdentity() }

    private static var waitingMask: UInt64 { 0b111 }
    private static var successorBit: UInt64 { 1 << 3 }
    private static var suspendedBit: UInt64 { 1 << 56 }
    private static var observedBit: UInt64 { 1 << 57 }

    init(holder: UInt64, waiting: UInt64, hasSuccessor: Bool, isSuspended: Bool, isObserved: Bool) {
        bits =
            holder | waiting | (hasSuccessor ? Self.successorBit : 0) | (isSuspended ? Self.suspendedBit : 0)
            | (isObserved ? Self.observedBit : 0)
    }

    /// The same word with another holder.
    func held(by holder: UInt64) -> TurnWord {
        TurnWord(bits: holder | (bits & ~TaskBody.holders))
    }

    var holder: UInt64 { bits & TaskBody.holders }

    var isFree: Bool { holder == 0 }

    /// A running thread has the turn, and may give it back in a moment.
    var isHeldByThread: Bool { !isFree && !isHeldByTask && holder != Self.detached }

    /// The holder is an async body.
    var isHeldByTask: Bool { bits & TaskBody.flag != 0 }

    /// The level of the highest priority in line; 0 when nobody waits.
    var waiting: UInt64 { bits & Self.waitingMask }

    var hasSuccessor: Bool { bits & Self.successorBit != 0 }

    var isSuspended: Bool { bits & Self.suspendedBit != 0 }

    var isObserved: Bool { bits & Self.observedBit != 0 }

    /// Whether a release must choose the successor.
    var needsSuccessor: Bool { waiting != 0 && !hasSuccessor && !isSuspended }
}

extension CommandPriority {
    /// The priority as a number from 1 to 5, so that 0 can mean "nobody" in the turn word.
    var level: UInt64 { UInt64(rawValue) }
}

extension TurnWord {
    /// What a newcomer may do, which does not stand in line yet.
    enum Admission {
        /// Take the turn.
        case take
        /// Take the turn if the `BargingDeadline` allows it, or look again in a moment.
        case barge
        /// Look again in a moment: a running thread has the turn, or is about to take it.
        case spin
        /// Stand in line.
        case queue
    }

    /// What a newcomer of a priority may do.
    func admission(of priority: CommandPriority) -> Admission {
        if isSuspended { return .queue }
        if !isFree { return isHeldByThread ? .spin : .queue }
        if priority.level > waiting { return .take }
        return priority.level == waiting ? .barge : .spin
    }
}

/// Until when newcomers may barge past the front, if that has their priority, or until when a free turn is kept for it.
/// A pure value in one word.
///
/// It is fixed by the arrival of the front and the number of threads that wait. The priority is part of it, as a
/// newcomer reads the turn word and the deadline one after the other: the deadline of a more urgent front that came and
/// went between says nothing about the one there now.
package struct BargingDeadline: Equatable {
    let bits: UInt64

    init(bits: UInt64) {
        self.bits = bits
    }

    /// - Parameters:
    ///   - priority: Of the front.
    ///   - time: From when on its equals may not barge, in nanoseconds of `now()`.
    init(_ priority: CommandPriority, until time: UInt64) {
        bits = time << 3 | priority.level
    }

    /// Nobody may barge.
    package static var none: BargingDeadline { BargingDeadline(bits: 0) }

    /// Nobody may barge, and a free turn is kept for the block of a lane.
    ///
    /// - Parameter time: Until when, in nanoseconds of `now()`.
    init(keptUntil time: UInt64) {
        bits = time << 3 | 0b111
    }

    /// Whether nobody barges any more, and the free turn may be kept for a block that is late.
    func isOver(at time: UInt64) -> Bool {
        self != .none && time >= bits >> 3
    }

    /// Whether newcomers of a priority may barge past their equals at any time.
    func isOf(_ priority: CommandPriority) -> Bool { bits & 0b111 == priority.level }

    /// Whether a newcomer of a priority may barge past its equals at a time.
    package func allows(_ priority: CommandPriority, at time: UInt64) -> Bool {
        isOf(priority) && time < bits >> 3
    }
}
