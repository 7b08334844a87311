//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The numbers of the rules, in one place. Times are in nanoseconds. Today's values, and no promise.
package enum HandoffPolicy {
    /// After how long a block or a task that was sent for is late, and how often the timer looks (rule 5).
    static let late: UInt64 = 5_000_000

    /// For how long, at most, the turn waits for one that was late before (rule 5).
    static let longestPatience: UInt64 = 200_000_000

    /// How often a waiting thread is owed the turn, at most (rule 4). After how long a task is late that a protected value woke.
    static let fair: UInt64 = 250_000

    /// How many commands a block runs before other work of its queue gets a chance (rule 6).
    static let batch = 64

    /// For how long a thread sleeps before it looks whether it waits in a circle. Hardly any sleeps so long, so the
    /// graph of all waits, which has one lock, costs the others nothing.
    package static let circle: UInt64 = 10_000_000

    /// How often a thread that gives back a lock of the system rests beside those that wait with a time-out, and for how
    /// long: about as long as a thread takes to wake up.
    static let rest: UInt64 = 5_000_000
    static let restLength: UInt64 = 100_000

    /// How often a thread looks from its place in line before it sleeps, and the pauses between two looks (rule 2).
    static let looksInLine = 80
    static let pausesInLine = 4

    /// How many waits in a block pass the lane of its queue, before one waits for that lane again (rule 5).
    static let passes: UInt64 = 256

    /// How many times longer a newcomer looks that finds a less urgent front owed the turn (rule 4).
    static let owedLooks = 10

    /// How often a block looks whether another command comes, and the pauses between two looks.
    static let looksForMore = 100
    static let pausesForMore = 4

    /// The pauses of a block that finds one command: it seldom comes alone.
    static let pausesForBatch = 20
}

/// Says at most once in a quarter of a millisecond that the first of a line is owed its turn.
struct FairnessClock {
    private var latest: UInt64 = 0
}

extension FairnessClock {
    /// Whether one that came at a time is owed its turn now. If so, none is for a while.
    mutating func isDue(since arrival: UInt64, at time: UInt64, after delay: UInt64 = HandoffPolicy.fair) -> Bool {
        guard time >= max(arrival, latest) + delay else { return false }
        latest = time  // fault: handed over each time
        return true
    }
}

/// For how long the turn waits for one that was sent for (rule 5).
struct Patience {
    /// The time, in nanoseconds.
    private(set) var time = HandoffPolicy.late

    /// For how long the last one that was late was on its way; 0 if none was, or if that was too long.
    private var delay: UInt64 = 0
}

extension Patience {
    /// It is late. If the turn has waited for as long as it may, there is no more patience until it has had a turn.
    mutating func runOut() {
        if time == HandoffPolicy.longestPatience { (time, delay) = (HandoffPolicy.late, .max) }
    }

    /// It has arrived late.
    mutating func noteDelay(_ nanoseconds: UInt64) { if delay != .max { delay = nanoseconds } }

    /// It was late, and now came in vain: next time, the turn waits for twice as long as it took.
    mutating func grow() {
        if delay != 0, delay != .max { time = min(max(2 * delay, time), HandoffPolicy.longestPatience) }
    }
}
