//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A thread that sleeps until it has a lock, or until its time is over.
package final class Sleeper {
    /// The identity of the thread.
    package let thread: UInt64

    let parker = Parker()

    /// When the thread fell asleep for the first time, which is also its place in the line; zero before. Guarded by the
    /// queue.
    fileprivate(set) var arrival: UInt64 = 0

    /// Whether the lock was handed to the thread. Guarded by the queue.
    var isOwner = false

    package init(_ thread: UInt64) { self.thread = thread }
}

// The queue guards the members that change.
extension Sleeper: @unchecked Sendable {}

/// The threads that sleep until they have one lock, in the order in which they first fell asleep. A thread that was woken
/// too late returns to its old place.
package struct SleeperLine {
    private var sleepers = [Sleeper]()
    private var lastArrival: UInt64 = 0

    /// Says when the front is owed the lock.
    private var fairness = FairnessClock()

    /// For how long a sleeper is owed nothing after it fell asleep, and after the last handover, in nanoseconds.
    package var handoffDelay = HandoffPolicy.fair

    package init() {}
}

extension SleeperLine {
    var isEmpty: Bool { sleepers.isEmpty }

    /// The threads, in their order.
    package var threads: [UInt64] { sleepers.map(\.thread) }

    /// Puts a sleeper at its place. A sleeper that falls asleep for the first time goes to the end.
    package mutating func insert(_ sleeper: Sleeper, at time: UInt64) {
        if sleeper.arrival == 0 {
            // No two arrivals are equal, whatever the clock says.
            lastArrival = max(lastArrival + 1, time)
            sleeper.arrival = lastArrival
        }
        let index = sleepers.lastIndex { $0.arrival < sleeper.arrival }
        sleepers.insert(sleeper, at: index.map { $0 + 1 } ?? 0)  // fault: late sleepers lose their place
    }

    /// Removes the sleeper that came first.
    package mutating func removeFirst() -> Sleeper? { sleepers.isEmpty ? nil : sleepers.removeFirst() }

    /// Removes a sleeper, if it is in the line.
    package mutating func remove(_ sleeper: Sleeper) { sleepers.removeAll { $0 === sleeper } }

    /// Decides whether the front is handed the lock now. That happens at most once in a quarter of a millisecond, because
    /// each handover costs a change of threads.
    package mutating func owesFront(at time: UInt64) -> Bool {
        guard let front = sleepers.first else { return false }
        return fairness.isDue(since: front.arrival, at: time, after: handoffDelay)  // fault: owed after a second
    }
}
