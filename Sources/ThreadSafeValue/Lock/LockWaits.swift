//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Which thread waits for which lock: finds out, before a thread falls asleep, that it would never be woken.
///
/// Only threads that are about to sleep come here, and only those whose wait does not end by itself.
final class LockWaits {
    static let shared = LockWaits()

    private struct Wait {
        let word: AtomicWord
        let user: Any.Type
    }

    // Held for moments.
    private let mutex = PthreadMutex()

    // By the identity of the thread. Guarded by `mutex`.
    private var waits = [UInt64: Wait]()
}

// See `waits`. A wait's word is read only while the thread is entered that waits for it, and keeps it.
extension LockWaits: @unchecked Sendable {}

extension LockWaits {
    /// Notes that a thread is about to wait for a lock; crashes if that would close a circle.
    ///
    /// - Parameters:
    ///   - thread: The identity of the calling thread.
    ///   - word: The lock's word.
    ///   - user: What the lock is part of, for the message.
    func begin(_ thread: UInt64, for word: AtomicWord, of user: Any.Type) {
        let closed = mutex.around {
            waits[thread] = Wait(word: word, user: user)
            return circle(of: thread)
        }
        if let closed { LockMistake.failCircle(closed.map { ($0.user, $0.word.address) }) }
    }

    /// Notes that a thread waits no more.
    func end(_ thread: UInt64) {
        mutex.around { waits[thread] = nil }
    }

    /// The waits from a thread back to itself, if there are such.
    ///
    /// Nothing found here can come undone meanwhile: a thread that is entered is still inside the call that waits, so it
    /// gives no lock back; and the lock of its wait is held by another, so it really waits.
    private func circle(of thread: UInt64) -> [Wait]? {
        var circle = [Wait]()
        var next = thread
        // A thread that was just handed its lock seems to wait for itself, hence the bound.
        while circle.count <= waits.count, let wait = waits[next] {
            circle.append(wait)
            next = wait.word.load() & ~SleeperQueue.waiting
            if next == thread { return circle }
        }
        return nil
    }
}
