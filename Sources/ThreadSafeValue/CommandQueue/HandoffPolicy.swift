//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The bounds of the command queue, in one place. Times are in nanoseconds.
package struct HandoffPolicy: Sendable {
    /// How long after its arrival a waiting command may be barged past by newcomers of its own priority, while the
    /// turn is free and the successor is on its way; times the number of threads that wait.
    ///
    /// Strict hand-over alone makes each contended command cost a context switch: 4,400 ns against 55 ns, measured.
    /// Times the number of threads, because each needs a context switch to be served: if the deadline passes before all
    /// have had theirs, everybody stands in line from then on. On two processors, eight threads took 514 ns a command
    /// with 100 µs for all of them, 58 ns with 100 µs for each; 64 threads that hold the value for a microsecond took
    /// 25 µs and 9.
    package var barging: UInt64 = 100_000

    /// How long a free turn is kept for a target queue that has not started, while something else waits.
    package var keeping: UInt64 = 5_000_000

    /// The longest that it is kept for a queue whose blocks are known to start late: see `Lane.keeping(_:)`.
    package var keepingLimit: UInt64 = 50_000_000

    /// How often that limit doubles while blocks come in vain: see `Lane.keeping(_:)`.
    package var keepingDoublings: UInt64 = 4

    /// How long after all target queues were looked at, because one of them was late, they are not looked at again;
    /// times their number.
    package var probing: UInt64 = 1_000_000

    /// How many commands a lane runs in one go before other work of its target queue gets a chance.
    package var batch = 64

    /// How many commands of other slow queues a command looks at, to pass them, under the lock: some microseconds.
    package var passing = 1_000

    /// How many pauses of the processor a thread makes between looks for a free turn before it stands in line, and as
    /// the front once more before it parks.
    package var spins = Backoff.spinsBeforeParking

    /// For how long a thread is parked before it looks whether it waits in a circle. Hardly any waits so long, so the
    /// graph of all waiting threads, which has one lock, costs the others nothing. Databases find deadlocks so.
    ///
    /// A thread that waits longer wakes once more for it: where 64 threads compete and it was a millisecond, that was
    /// half of all wake-ups.
    package var circleDelay: UInt64 = 10_000_000

    package init() {}
}
