//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The pauses of a thread that looks several times for something that another thread is about to do.
///
/// They grow, because each look takes the word out of the other processor's cache: with 2 threads a command took 0.6
/// times as long as with equal ones. At the end the thread lets others run, if that was asked for, as the one it waits for may
/// need this very processor: with 8 threads on 2 processors a command then took 20 ns, and 140 ns when it parked at once.
struct Backoff {
    private var spins: Int
    private var yields: Int
    private var length = 1

    /// - Parameters:
    ///   - spins: How many pauses to make altogether, each of which takes the processor some nanoseconds.
    ///   - yields: How often to let other threads run after those.
    init(spins: Int, yields: Int) {
        self.spins = spins
        self.yields = yields
    }

    /// No look but the first.
    static var none: Backoff { Backoff(spins: 0, yields: 0) }

    /// The same, but without letting other threads run.
    var keepingProcessor: Backoff { Backoff(spins: spins, yields: 0) }

    /// How many pauses take about as long as to park and to be woken. On a single processor nothing changes meanwhile.
    static let spinsBeforeParking = processorCount() == 1 ? 0 : 200

    /// About as long as it takes to park and to be woken.
    static var beforeParking: Backoff { Backoff(spins: spinsBeforeParking, yields: 2) }

    /// Whether no pause is left.
    var isOver: Bool { spins <= 0 && yields == 0 }

    /// Lets a little time pass.
    ///
    /// - Returns: Whether it is worth to look again; otherwise no time has passed, and a thread should park.
    mutating func pause() -> Bool {
        if spins > 0 {
            for _ in 0..<length { pauseSpinning() }
            spins -= length
            length = min(length * 2, 64)
        } else if yields > 0 {
            yields -= 1
            yieldProcessor()
        } else {
            return false
        }
        return true
    }
}
