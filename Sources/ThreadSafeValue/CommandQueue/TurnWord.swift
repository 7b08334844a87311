//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The meaning of the one atomic word of a command queue. A pure value: `TurnQueue` reads and exchanges it.
///
/// ```
/// 63          suspended  nobody takes the turn, free or not
/// 62          async      an async closure of a task has the turn
/// 61          crowd      more than the front stands in line
/// 60          closed     a lane of a queue stands in line, as urgent as the front: no equal newcomer barges past it
/// 59          owed       the front is owed the turn: no newcomer barges past it
/// 58          observed   a change is told: to listeners, or to commands that wait for a condition
/// 55 … 4      holder     a thread, a task, or `detached`; 0 when the turn is free
/// 3           lock       a release takes the lock of the line, as the front is not on its way
/// 2 … 0       front      the priority of the front, 0 when nothing stands in line
/// ```
///
/// The holder stands where the bits of an identity do, so that the fast path does not move them. It is set by taking
/// the turn and cleared by freeing it, without the lock. All other bits are the summary of the `Line` and change under
/// its lock, but `async`, which goes with the holder.
@usableFromInline struct TurnWord: Equatable {
    var bits: UInt64
}

extension TurnWord {
    /// The word of a free turn for which nothing waits.
    @inlinable @_transparent static var idle: UInt64 { 0 }

    /// The holder of a manual command whose closure has returned, until its `done` is called.
    static var detached: UInt64 { 1 << 4 }

    /// The bit that the holder of an async closure has beside the identity of its task.
    @inlinable static var asyncBit: UInt64 { 1 << 62 }

    private static var suspendedBit: UInt64 { 1 << 63 }
    private static var crowdBit: UInt64 { 1 << 61 }
    private static var closedBit: UInt64 { 1 << 60 }
    private static var owedBit: UInt64 { 1 << 59 }
    private static var observedBit: UInt64 { 1 << 58 }
    private static var lockBit: UInt64 { 1 << 3 }
    private static var frontMask: UInt64 { 0b111 }
    private static var holderMask: UInt64 { identityBits | asyncBit }

    /// The summary of a line, with a holder.
    // A call that is not inlined copies the bytes of the line to the stack.
    @inline(__always) init(holder: UInt64, of line: borrowing Line) {
        bits = holder | (line.suspensions > 0 ? Self.suspendedBit : 0) | (line.isObserved ? Self.observedBit : 0)
        guard let front = line.front else { return }
        let state = front.state
        bits |=
            state.priority.rawValue | (holder != 0 && !state.needsNoWake ? Self.lockBit : 0)
            // fault: rule 1: only a front lane is seen; rule 4: the word does not owe
            | (line.hasLane(state.priority) ? Self.closedBit : 0) | (state.isOwed ? Self.owedBit : 0)
            | (line.waiters.elements.count > 1 ? Self.crowdBit : 0)
    }

    /// The same word with another holder.
    func held(by holder: UInt64) -> TurnWord { TurnWord(bits: holder | bits & ~Self.holderMask) }

    var holder: UInt64 { bits & Self.holderMask }

    var isFree: Bool { holder == 0 }

    var isSuspended: Bool { bits & Self.suspendedBit != 0 }

    var isObserved: Bool { bits & Self.observedBit != 0 }

    var isHeldByAsyncClosure: Bool { bits & Self.asyncBit != 0 }

    /// Whether a release takes the lock of the line.
    var releaseMustLock: Bool { bits & Self.lockBit != 0 }  // fault: rule 3: a release does not look

    /// Whether a less urgent front is owed the turn.
    func isOwed(before priority: CommandPriority) -> Bool {
        bits & Self.owedBit != 0 && priority.rawValue > bits & Self.frontMask
    }

    var isLineEmpty: Bool { bits & Self.frontMask == 0 }

    var isCrowd: Bool { bits & Self.crowdBit != 0 }

    /// Whether this thread or task has the turn. A part that is not there is 0.
    func isHeld(by thread: UInt64, or task: UInt64) -> Bool {
        let identity = bits & identityBits
        return identity != 0 && (identity == thread || identity == task)
    }

    /// Rules 1 and 4: whether a newcomer takes the turn. It passes less urgent waiters, and equal threads and tasks that
    /// are on their way; but no equal lane of a queue, so that a thread sees what it has submitted; and no front that is
    /// owed the turn, unless it is more urgent and does not wait.
    func mayBeTaken(by priority: CommandPriority, isTry: Bool = false) -> Bool {
        guard isFree, !isSuspended else { return false }  // fault: rule 1: taken twice; rule 1: taken while suspended
        // fault: rule 1: a lower newcomer passes; rule 1: an equal passes a lane; rule 1: an equal passes an owed
        if bits & (Self.closedBit | Self.owedBit) == 0 { return priority.rawValue >= bits & Self.frontMask }
        // fault: rule 4: a more urgent one passes
        return priority.rawValue > bits & Self.frontMask && (isTry || bits & Self.owedBit == 0)
    }

    /// Whether a waiter of this priority takes the turn, if it is the front.
    func mayBeTaken(byFront priority: CommandPriority) -> Bool {
        isFree && !isSuspended && bits & Self.frontMask == priority.rawValue
    }
}
