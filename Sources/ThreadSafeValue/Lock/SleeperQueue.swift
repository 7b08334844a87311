//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A thread that sleeps until it has a lock, or until its time is over.
final class Sleeper {
    /// The identity of the thread.
    let thread: UInt64

    /// When it fell asleep first, which tells its place in the queue as well; zero before. Guarded by the queue.
    fileprivate(set) var arrival: UInt64 = 0

    /// Whether the lock was handed over to it. Guarded by the queue.
    fileprivate(set) var isOwner = false

    fileprivate let parker = Parker()

    init(_ thread: UInt64) {
        self.thread = thread
    }
}

// See its members.
extension Sleeper: @unchecked Sendable {}

/// The threads that sleep until they have one lock, in the order in which they fell asleep.
///
/// Invariant (no lost wake-up): while the queue is not empty, the waiting bit is set, or one thread owes the next look: the
/// unlocker that cleared the bit, or a woken thread that has not yet entered again. That one takes the lock, with the bit
/// if others sleep, or else it sets the bit. A thread that takes a free lock without coming here leaves no less: the bit was
/// not set.
final class SleeperQueue {
    /// Added to the holder's identity in the lock's word: the holder has to come here when it unlocks.
    static var waiting: UInt64 { 1 }

    /// After how many nanoseconds of sleep the front thread is handed the lock: half a millisecond, as in parking_lot, and
    /// more if many sleep.
    ///
    /// To hand over costs a change of threads, and all that have slept for long get the lock in one go. With 64 threads that
    /// took longer than half a millisecond, so that the next one had always slept for long, and the lock was handed over each
    /// time: an access of 30 ns took 3 µs. With this, a tenth of the time at most goes into hand-overs.
    static func patience(with sleepers: Int) -> UInt64 {
        max(500_000, 50_000 * UInt64(sleepers))
    }

    // Not of the kind that this is a part of. Held for moments.
    private let mutex = PthreadMutex()

    // Guarded by `mutex`, as is the waiting bit: whoever sets or clears it holds the mutex.
    private var sleepers = [Sleeper]()
    private var lastArrival: UInt64 = 0
}

// See `sleepers`.
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
            // There may be none: one whose time was over has left.
            guard let first = sleepers.first else {
                _ = word.exchange(held, for: 0)
                return nil
            }
            first.isOwner = time >= first.arrival + Self.patience(with: sleepers.count)
            sleepers.removeFirst()
            _ = word.exchange(held, for: first.isOwner ? marked(first.thread) : 0)
            return first
        }
        next?.parker.wake()
    }

    /// How many threads sleep.
    var count: Int {
        mutex.around { sleepers.count }
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
                if sleeps { insert(sleeper) }
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
        if let index = sleepers.firstIndex(where: { $0 === sleeper }) {
            sleepers.remove(at: index)
            return false
        }
        return take(word, for: sleeper, orSleep: false)
    }

    private func insert(_ sleeper: Sleeper) {
        if sleeper.arrival == 0 {
            // No two are the same, whatever the clock says.
            lastArrival = max(lastArrival + 1, now())
            sleeper.arrival = lastArrival
        }
        let index = sleepers.lastIndex { $0.arrival < sleeper.arrival }
        sleepers.insert(sleeper, at: index.map { $0 + 1 } ?? 0)
    }

    /// The word of a lock that a thread holds.
    private func marked(_ thread: UInt64) -> UInt64 {
        sleepers.isEmpty ? thread : thread | Self.waiting
    }
}
