//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What the one atomic word of a command queue says. A pure value: `CommandQueue` reads and exchanges it.
///
/// ```
/// 63 … 8  holder     who has the turn: a thread, `elsewhere`, a `TaskOwner`, or 0 when the turn is free
/// 6       observed   somebody listens to changes: whoever gives the turn back tells
/// 5       suspended  the turn rests: nobody takes it, free or not
/// 4       closed     the value's container is gone, nothing more is accepted
/// 3       summoned   the turn is promised and somebody is on the way to take it: a release need wake nobody
/// 2 … 0   waiting    the highest priority that waits in line, 0 when nobody does
/// ```
///
/// Who changes what: the holder is set by whoever takes the turn and cleared by whoever has it, with no lock. All
/// other bits but `closed` are a summary of the waiting line and change only under its lock.
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
    static var idle: UInt64 { 0 }

    /// The holder of a manual command whose closure has returned: no thread, until its `done` is called.
    static var elsewhere: UInt64 { 1 << 8 }

    /// What all `TaskOwner`s have, and no other holder.
    static var task: UInt64 { 1 << 63 }

    /// The calling thread, as a holder. It is also the whole word of a turn that this thread has alone.
    @inlinable
    static var currentThread: UInt64 {
        // Four low bits are zero in an identity, eight high ones too: shifted, it leaves eight low bits for the rest.
        currentThreadIdentity() << 4
    }

    /// Whether somebody waits and nobody is on the way.
    var awaitsSummons: Bool {
        // The three bits of `waiting` hold 1 … 7, and `summoned` above them is 0.
        (bits & 0b1111) &- 1 < 7
    }

    private static var waitingMask: UInt64 { 0b111 }
    private static var summonedBit: UInt64 { 1 << 3 }
    private static var closedBit: UInt64 { 1 << 4 }
    private static var suspendedBit: UInt64 { 1 << 5 }
    private static var observedBit: UInt64 { 1 << 6 }
    private static var lowBits: UInt64 { (1 << 8) - 1 }

    var holder: UInt64 {
        get { bits & ~Self.lowBits }
        set { bits = newValue | (bits & Self.lowBits) }
    }

    var isFree: Bool { holder == 0 }

    /// The holder is a `TaskOwner`.
    var isHeldByTask: Bool { bits & Self.task != 0 }

    /// The level of the highest priority in line; 0 when nobody waits.
    var waiting: UInt64 {
        get { bits & Self.waitingMask }
        set { bits = (bits & ~Self.waitingMask) | newValue }
    }

    var isSummoned: Bool {
        get { bits & Self.summonedBit != 0 }
        set { bits = newValue ? bits | Self.summonedBit : bits & ~Self.summonedBit }
    }

    var isClosed: Bool {
        get { bits & Self.closedBit != 0 }
        set { bits = newValue ? bits | Self.closedBit : bits & ~Self.closedBit }
    }

    var isSuspended: Bool {
        get { bits & Self.suspendedBit != 0 }
        set { bits = newValue ? bits | Self.suspendedBit : bits & ~Self.suspendedBit }
    }

    var isObserved: Bool {
        get { bits & Self.observedBit != 0 }
        set { bits = newValue ? bits | Self.observedBit : bits & ~Self.observedBit }
    }

    /// The same word with another holder.
    func held(by holder: UInt64) -> TurnWord {
        var word = self
        word.holder = holder
        return word
    }
}
