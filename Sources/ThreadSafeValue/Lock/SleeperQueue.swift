//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Where the threads sleep that wait for one lock.
///
/// Invariant (no lost wake-up): while the queue is not empty, the waiting bit is set, or one thread owes the next look: the
/// unlocker that cleared the bit, or a woken thread that has not yet entered again. That one takes the lock, with the bit
/// if others sleep, or else it sets the bit. A thread that takes a free lock without coming here leaves no less: the bit was
/// not set.
final class SleeperQueue {
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
    /// - Returns: whether it has the lock; `false` only after the deadline.
    func lock(_ word: AtomicWord, _ sleeper: Sleeper, until deadline: Deadline) -> Bool {
        while !mutex.around({ take(word, for: sleeper, orSleep: true) }) {
            // A thread that was woken too late keeps its place.
            if !sleeper.parker.park(until: deadline.time) {
                return mutex.around { leave(word, sleeper) }
            }
        }
        return true
    }

    /// Gives back the lock whose word is given.
    ///
    /// A thread that has slept for long gets the lock: it cannot come too late. Another one is woken, and the lock is
    /// free meanwhile, for whoever comes: to hand over each time would cost a change of threads each time.
    func unlock(_ word: AtomicWord, _ thread: UInt64) {
        let time = now()
        let next: Sleeper? = mutex.around {
            let held = thread | Self.waiting
            let isOwed = line.frontIsOwed(at: time)
            // There may be none: one whose time was over has left.
            let front = line.removeFirst()
            if isOwed { front?.isOwner = true }
            _ = word.exchange(held, for: isOwed ? marked(front?.thread ?? 0) : 0)
            return front
        }
        next?.parker.wake()
    }

    /// How many threads sleep.
    var count: Int {
        mutex.around { line.count }
    }
}

// Under the mutex.
extension SleeperQueue {
    /// Takes the lock if it is free or was handed over; otherwise sees to it that the holder comes here when it unlocks.
    ///
    /// - Returns: whether the sleeper has the lock.
    private func take(_ word: AtomicWord, for sleeper: Sleeper, orSleep sleeps: Bool) -> Bool {
        if sleeper.isOwner { return true }
        while true {
            let bits = word.load()
            if bits == 0 {
                if word.exchangeAcquiring(0, for: marked(sleeper.thread)) { return true }
            } else if bits & Self.waiting != 0 || word.exchange(bits, for: bits | Self.waiting) {
                if sleeps { line.insert(sleeper, at: now()) }
                return false
            }
        }
    }

    /// Ends the wait of a sleeper whose time is over.
    ///
    /// One that was woken at the same time owes a look: it takes the lock, or sees to it that another is woken.
    ///
    /// - Returns: whether it has the lock.
    private func leave(_ word: AtomicWord, _ sleeper: Sleeper) -> Bool {
        line.remove(sleeper) ? false : take(word, for: sleeper, orSleep: false)
    }

    /// The word of a lock that a thread holds.
    private func marked(_ thread: UInt64) -> UInt64 {
        line.isEmpty ? thread : thread | Self.waiting
    }
}
