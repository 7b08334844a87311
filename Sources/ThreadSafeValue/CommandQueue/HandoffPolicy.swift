//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The bounds of the command queue, in one place. Times are in nanoseconds.
package struct HandoffPolicy: Sendable {
    /// How long after its arrival a waiting command may be barged past by newcomers of its own priority, while the turn is
    /// free and the successor is on its way. Strict hand-over alone would make each contended command cost a context
    /// switch: 4,400 ns against 55 ns, measured. Go's and parking_lot's mutexes do the same, with 1 ms and 0.5 ms.
    package var barging: UInt64 = 100_000

    /// How long a free turn is kept for a target queue that has not started, while something else waits.
    package var keeping: UInt64 = 5_000_000

    /// The longest that it is kept for a queue whose blocks are known to start late: see `Lane.adapt(to:)`.
    package var keepingLimit: UInt64 = 50_000_000

    /// How many commands a lane runs in one go before other work of its target queue gets a chance.
    package var batch = 64

    /// How many pauses of the processor a thread makes between looks for a free turn before it stands in line, and how
    /// often it lets other threads run before it parks there. See `Backoff`.
    package var spins = HandoffPolicy.isAlone ? 0 : 200
    package var yields = 0

    /// For how long a thread is parked before it looks whether it waits in a circle. Hardly any waits so long, so the
    /// graph of all waiting threads, which has one lock, costs the others nothing. Databases find deadlocks so.
    package var circleDelay: UInt64 = 1_000_000

    package init() {}

    /// On a single processor nothing changes while a thread pauses.
    private static let isAlone = processorCount() == 1
}
