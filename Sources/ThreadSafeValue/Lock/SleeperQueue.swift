//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Where the threads sleep that wait for one lock.
///
/// Invariant (no lost wake-up): while the queue is not empty, the waiting bit is set, or a woken thread owes a look
/// and those that sleep have one before them as well. Who looks takes a free lock, with the bit if others sleep, or
/// else sets the bit. A thread that takes a free lock without coming here leaves no less: the bit was not set.
///
/// Each sleeper looks for itself now and then: a thread that was woken before it may not run for long, and meanwhile
/// nobody else need come here.
final class SleeperQueue {
    /// For how long a thread sleeps before it looks for itself, in nanoseconds: twice as long each time.
    private static var lookDelay: UInt64 { 10_000_000 }

    /// Added to the holder's identity in the lock's word: the holder has to come here when it unlocks.
    static var waiting: UInt64 { 1 }

    // Not of the kind that this is a part of. Held for moments.
    private let mutex = PthreadMutex()

    // Guarded by `mutex`, as is the waiting bit: whoever sets or clears it holds the mutex.
    private var line = SleeperLine()
}

// See `line`.
extension SleeperQueue: @unchecked Sendable {}

extension SleeperQueue {
    /// Takes the lock whose word is given, and puts the calling thread to sleep for as long as that takes.
    ///
    /// - Parameters:
    ///   - word: The lock's word.
    ///   - sleeper: The calling thread.
    ///   - user: What the lock is part of, for the message if the wait closes a circle.
    ///   - deadline: Until when to wait.
    /// - Returns: Whether it has the lock; `false` only after the deadline.
    func lock(_ word: AtomicWord, _ sleeper: Sleeper, for user: Any.Type, until deadline: Deadline) -> Bool {
        // A wait that ends by itself closes no circle.
        if deadline != .never {  // fault: a timed wait closes circles
            return sleep(word, sleeper, until: deadline.time)
                || mutex.around { take(word, for: sleeper, orSleep: false) }  // fault: late when woken, wakes nobody
        }
        // Hardly any sleeps for longer, so the graph of all waits costs the others nothing.
        if sleep(word, sleeper, until: now() + Self.lookDelay) { return true }
        let resource = WaitGraph.Resource(isTurn: false, word: word, user: user)
        let waiting = WaitGraph.Waiting(thread: sleeper.thread, task: currentTaskIdentity())
        if let circle = WaitGraph.shared.begin(for: resource, by: waiting) { LockMistake.failCircle(circle) }
        defer { WaitGraph.shared.end(waiting) }
        return sleep(word, sleeper, until: .max)
    }

    /// Sleeps until the thread has the lock, or until a time of `now()`.
    ///
    /// - Returns: Whether it has the lock.
    private func sleep(_ word: AtomicWord, _ sleeper: Sleeper, until time: UInt64) -> Bool {
        var delay = Self.lookDelay
        repeat {
            let lookTime = min(now() + delay, time)  // fault: a sleeper does not look for itself
            delay *= 2
            repeat {
                // A thread that was woken too late keeps its place.
                if mutex.around({ take(word, for: sleeper, orSleep: true) }) { return true }
            } while sleeper.parker.park(until: lookTime)
        } while now() < time
        return false
    }

    /// Gives back the lock whose word is given.
    ///
    /// A thread that is owed the lock gets it: it cannot come too late. Otherwise it is woken, and the lock is free
    /// meanwhile, for whoever comes: to hand over each time would cost a change of threads each time.
    func unlock(_ word: AtomicWord, _ thread: UInt64) {
        let time = now()
        let next: Sleeper? = mutex.around {
            let held = thread | Self.waiting
            let isOwed = line.owesFront(at: time)  // fault: never handed over
            // There may be none: one whose time was over has left.
            let front = line.removeFirst()
            if isOwed { front?.isOwner = true }  // fault: the owner is not told
            _ = word.exchange(held, for: isOwed ? marked(front?.thread ?? 0) : 0)
            return front
        }
        next?.parker.wake()  // fault: unlocking wakes nobody
    }

    /// How many threads sleep.
    var count: Int {
        mutex.around { line.count }
    }

    /// After how long a sleeper is owed the lock, in nanoseconds; for tests.
    func setHandoffDelay(_ delay: UInt64) {
        mutex.around { line.handoffDelay = delay }
    }
}

// Under the mutex.
extension SleeperQueue {
    /// Takes the lock if it is free or was handed over; otherwise sees to it that the holder comes here when it
    /// unlocks.
    ///
    /// A sleeper whose time is over takes a free lock as well, and one that was woken at the same time owes a look.
    ///
    /// - Returns: Whether the sleeper has the lock. If not, it is in the line if it sleeps.
    private func take(_ word: AtomicWord, for sleeper: Sleeper, orSleep sleeps: Bool) -> Bool {
        if sleeper.isOwner { return true }
        line.remove(sleeper)  // fault: out of time, it stays in line
        while true {
            let bits = word.load()
            if bits == 0 {
                if word.exchangeAcquiring(0, for: marked(sleeper.thread)) { return true }
            } else if bits & Self.waiting != 0 || word.exchange(bits, for: bits | Self.waiting) {  // fault: not marked
                if sleeps { line.insert(sleeper, at: now()) }
                return false
            }
        }
    }

    /// The word of a lock that a thread holds.
    private func marked(_ thread: UInt64) -> UInt64 {
        line.isEmpty ? thread : thread | Self.waiting  // fault: those behind are forgotten
    }
}
