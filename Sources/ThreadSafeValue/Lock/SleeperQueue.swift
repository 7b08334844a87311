//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The place where threads sleep that wait for one lock.
///
/// Invariant (no lost wake-up): while the queue is not empty, either the waiting bit is set, or a woken thread is about to
/// look at the lock. A thread that looks takes a free lock, and keeps the bit set if others sleep; if the lock is held,
/// the thread sets the bit. A thread that takes a free lock without the queue changes nothing about that, because the bit
/// was not set.
///
/// Each sleeper also looks for itself now and then. A thread that was woken before it may not run for a long time, and
/// until then perhaps nobody else comes to the queue.
final class SleeperQueue {
    /// A bit beside the holder's identity in the lock's word: the holder must come to this queue when it unlocks.
    static var waiting: UInt64 { 1 }

    // Another kind of lock than the one that this queue belongs to. Threads hold it for moments.
    private let mutex = PthreadMutex()

    // Guarded by `mutex`, as is the waiting bit: a thread that sets or clears the bit holds the mutex.
    private var line = SleeperLine()
}

// The mutex guards the line.
extension SleeperQueue: @unchecked Sendable {}

extension SleeperQueue {
    /// Takes the lock of a word. The calling thread sleeps for as long as that takes.
    ///
    /// - Parameters:
    ///   - word: The lock's word.
    ///   - sleeper: The calling thread.
    ///   - user: The type that the lock is part of, for the message if the wait closes a circle.
    ///   - deadline: Until when to wait.
    /// - Returns: Whether the thread has the lock; `false` only after the deadline.
    func lock(_ word: AtomicWord, _ sleeper: Sleeper, for user: Any.Type, until deadline: Deadline) -> Bool {
        // A wait that ends by itself closes no circle.
        if deadline != .never {  // fault: a timed wait closes circles
            return sleep(word, sleeper, until: deadline.time)
                || mutex.around { take(word, for: sleeper, orSleep: false) }  // fault: late when woken, wakes nobody
        }
        // Hardly any thread sleeps for longer, so most waits never come to the graph of all waits.
        if sleep(word, sleeper, until: now() + HandoffPolicy.circle) { return true }
        let resource = WaitGraph.Resource(isTurn: false, word: word, user: user)
        let waiting = WaitGraph.Waiting(thread: sleeper.thread, task: currentTaskIdentity())
        if let circle = WaitGraph.shared.begin(for: resource, by: waiting) { LockMistake.failCircle(circle) }
        defer { WaitGraph.shared.end(waiting) }
        return sleep(word, sleeper, until: .max)
    }

    /// Sleeps until the thread has the lock, or until a time of `now()`.
    ///
    /// - Returns: Whether the thread has the lock.
    private func sleep(_ word: AtomicWord, _ sleeper: Sleeper, until time: UInt64) -> Bool {
        // A thread looks for itself after this time, which doubles with each look.
        var delay = HandoffPolicy.circle
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

    /// Gives back the lock of a word.
    ///
    /// If the front thread is owed the lock, it is handed the lock, and cannot come too late. Otherwise the front thread
    /// is woken, and the lock is free for any thread meanwhile. A handover at each unlock would cost a change of threads
    /// each time.
    func unlock(_ word: AtomicWord, _ thread: UInt64) {
        let time = now()
        let next: Sleeper? = mutex.around {
            let held = thread | Self.waiting
            let isOwed = line.owesFront(at: time)  // fault: never handed over
            // The line may be empty: a thread leaves it when its time is over.
            let front = line.removeFirst()
            if isOwed { front?.isOwner = true }  // fault: the owner is not told
            _ = word.exchangeReleasing(held, for: isOwed ? marked(front?.thread ?? 0) : 0)
            return front
        }
        next?.parker.wake()  // fault: unlocking wakes nobody
    }

    /// Looks at the line, or changes it; for tests.
    func withLine<Answer>(_ body: (inout SleeperLine) -> Answer) -> Answer { mutex.around { body(&line) } }

    // MARK: Under the mutex

    /// Takes the lock if it is free, or was handed to the sleeper. Otherwise the holder will come to the queue when it
    /// unlocks.
    ///
    /// A sleeper whose time is over also takes a free lock: it may have been woken at the same moment, and then owes the
    /// others a look.
    ///
    /// - Returns: Whether the sleeper has the lock. If it does not, it stands in the line if it sleeps.
    private func take(_ word: AtomicWord, for sleeper: Sleeper, orSleep sleeps: Bool) -> Bool {
        if sleeper.isOwner { return true }
        line.remove(sleeper)  // fault: out of time, it stays in line
        while true {
            let bits = word.load()
            if bits == 0 {
                if word.exchangeAcquiring(0, for: marked(sleeper.thread)) { return true }
                // The bit tells of the line, which the mutex guards, so the bit needs no order.
                // fault: not marked
            } else if bits & Self.waiting != 0 || word.exchangeReleasing(bits, for: bits | Self.waiting) {
                if sleeps { line.insert(sleeper, at: now()) }
                return false
            }
        }
    }

    /// The word for a lock that a thread holds, with the waiting bit if others sleep.
    private func marked(_ thread: UInt64) -> UInt64 {
        line.isEmpty ? thread : thread | Self.waiting  // fault: those behind are forgotten
    }
}
