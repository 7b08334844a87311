//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A thread that sleeps until it has a lock, or until its time is over.
package final class Sleeper {
    /// The identity of the thread.
    package let thread: UInt64

    let parker = Parker()

    /// When it fell asleep first, which tells its place in the line as well; zero before. Guarded by the queue.
    fileprivate(set) var arrival: UInt64 = 0

    /// Whether the lock was handed over to it. Guarded by the queue.
    var isOwner = false

    package init(_ thread: UInt64) {
        self.thread = thread
    }
}

// See its members.
extension Sleeper: @unchecked Sendable {}

/// The threads that sleep until they have one lock, in the order in which they fell asleep: also when they come back
/// to it because they were woken too late.
package struct SleeperLine {
    private var sleepers = [Sleeper]()
    private var lastArrival: UInt64 = 0

    /// All that came until then are owed the lock.
    private var lastOwed: UInt64 = 0

    /// After how long a sleep few are owed the lock, in nanoseconds.
    var handoffDelay: UInt64 = 500_000

    package init() {}
}

extension SleeperLine {
    var isEmpty: Bool { sleepers.isEmpty }

    var count: Int { sleepers.count }

    /// The threads, in their order.
    package var threads: [UInt64] { sleepers.map(\.thread) }

    /// Puts a sleeper at its place: at the end if it falls asleep for the first time.
    package mutating func insert(_ sleeper: Sleeper, at time: UInt64) {
        if sleeper.arrival == 0 {
            // No two are the same, whatever the clock says.
            lastArrival = max(lastArrival + 1, time)
            sleeper.arrival = lastArrival
        }
        let index = sleepers.lastIndex { $0.arrival < sleeper.arrival }
        sleepers.insert(sleeper, at: index.map { $0 + 1 } ?? 0)
    }

    /// Takes out the sleeper that came first.
    package mutating func removeFirst() -> Sleeper? {
        sleepers.isEmpty ? nil : sleepers.removeFirst()
    }

    /// Takes out a sleeper, if it is there.
    package mutating func remove(_ sleeper: Sleeper) {
        sleepers.removeAll { $0 === sleeper }
    }

    /// When a sleeper will have slept for so long that it is owed the lock: half a millisecond, as in parking_lot, or
    /// longer if many sleep.
    ///
    /// To hand over costs a change of threads, and all that have slept for long get the lock in one go. With 64
    /// threads that took longer than half a millisecond, so that the next one had always slept for long, and the lock
    /// was handed over each time: an access of 30 ns took 3 µs. With this, a tenth of the time or less goes into
    /// hand-overs. With half of it, such threads took twice as long as with a lock that is not fair, and the longest
    /// wait of all was the same.
    private func owedTime(of sleeper: Sleeper) -> UInt64 {
        sleeper.arrival + max(handoffDelay, 80_000 * UInt64(sleepers.count))
    }

    /// When a sleeper that has just joined the line at its end looks for itself: where many sleep, a little after it is
    /// owed the lock, so that those before it had time to get it.
    ///
    /// The look of the front is enough as a rule: with it, each unlock hands the lock to the next one. When all looked
    /// as soon as they were owed the lock, half of all wake-ups were in vain, and 64 threads took 1.2 times as long.
    func lookTime(of sleeper: Sleeper) -> UInt64 {
        sleeper.arrival + max(handoffDelay, 100_000 * UInt64(sleepers.count))
    }

    /// A sleeper is owed the lock from now on, however many sleep, and so are those before it.
    package mutating func owe(_ sleeper: Sleeper) {
        lastOwed = max(lastOwed, sleeper.arrival)
    }

    /// Whether the front sleeper is owed the lock.
    package func frontIsOwed(at time: UInt64) -> Bool {
        guard let front = sleepers.first else { return false }
        return front.arrival <= lastOwed || time >= owedTime(of: front)
    }
}
