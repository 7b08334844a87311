//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The pauses of a thread that looks several times for something that another thread is about to do.
///
/// They grow, because each look takes the word out of the other processor's cache: with 2 threads a command took 0.6
/// times as long as with equal ones. And the first is short: with one of 8, two threads that do nothing else were 1.5
/// times as fast, but those that collide now and then, and hold the value for 60 to 300 ns, up to 1.15 times as slow.
/// The thread never yields the processor: it would not know when it runs again.
struct Backoff {
    private var spins: Int
    private var length = 1

    /// - Parameter spins: How many pauses to make altogether, each of which takes the processor some nanoseconds.
    init(spins: Int) {
        self.spins = spins
    }

    /// No look but the first.
    static var none: Backoff { Backoff(spins: 0) }

    /// How many pauses take about as long as to park and to be woken. On a single processor nothing changes meanwhile.
    static let spinsBeforeParking = processorCount() == 1 ? 0 : 200

    /// About as long as it takes to park and to be woken.
    static var beforeParking: Backoff { Backoff(spins: spinsBeforeParking) }

    /// Whether no pause is left.
    var isOver: Bool { spins <= 0 }

    /// Lets a little time pass.
    ///
    /// - Returns: Whether it is worth to look again; otherwise no time has passed, and a thread should park.
    mutating func pause() -> Bool {
        if isOver { return false }
        for _ in 0..<length { pauseSpinning() }
        spins -= length
        length = min(length * 2, 64)
        return true
    }
}
