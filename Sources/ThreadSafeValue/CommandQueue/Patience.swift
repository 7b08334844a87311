//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The bounds of the command queue, in one place. Times are in nanoseconds.
package struct Patience: Sendable {
    /// How long newcomers of its own priority may pass a waiting command while the turn is free and the thread or
    /// queue next in line is still on the way, from the first time that one does. Strict order alone would make each
    /// contended command cost a context switch: 4,400 ns against 55 ns, measured. It is what Go's and parking_lot's
    /// mutexes do, with 1 ms and 0.5 ms.
    package var passing: UInt64 = 100_000

    /// How long a free turn is kept for a target queue that has not started, while something else waits.
    package var keeping: UInt64 = 5_000_000

    /// How many commands a lane runs in one go before other work of its target queue gets a chance.
    package var batch = 64

    /// How many pauses of the processor a thread makes between looks for a free turn, and how often it lets other threads
    /// run then, before it parks. See `Backoff`.
    package var spins = Patience.isAlone ? 0 : 200
    package var yields = 2

    /// After how many overtakings by commands of higher priority a command goes next; `nil` for never.
    ///
    /// With a limit, newcomers never pass those who wait, as that is not counted.
    package var overtakings: UInt32?

    package init() {}

    /// What a thread does with `spins` and `yields`.
    var backoff: Backoff { Backoff(spins: spins, yields: yields) }

    /// On a single processor nothing changes while a thread pauses.
    private static let isAlone = processorCount() == 1
}
