//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

internal import Dispatch

/// A thread that waits for the lock of a protected value, but only up to a moment.
///
/// No lock of every system can be waited for like that. So the thread sets a bit beside the lock, parks, and is woken by
/// whoever unlocks and sees the bit. An access that is just about to unlock may have looked before the bit was set; so
/// the first waiter also sends out a *scout*, which takes the lock once and gives it back. Every access before the scout's
/// is over when the scout wakes the waiter, and every later one sees the bit.
final class LockWaiter {
    let parking = DispatchSemaphore(value: 0)

    /// Whether it has been woken, and has not yet tried. Guarded by the lock of the `Attendants`.
    var isWoken = false
}

// See `isWoken`.
extension LockWaiter: @unchecked Sendable {}

extension Attendants {
    /// Puts a waiter in line.
    ///
    /// - Returns: whether the caller must send out a scout.
    func add(_ waiter: LockWaiter) -> Bool {
        lock.around {
            lockWaiters.append(waiter)
            attention.set(Attention.toLock, to: true)
            defer { isScoutOut = true }
            return !isScoutOut
        }
    }

    /// A scout has the value's lock. A waiter that comes from now on needs another one.
    func welcomeScout() {
        lock.around { isScoutOut = false }
    }

    func remove(_ waiter: LockWaiter) {
        lock.around {
            lockWaiters.removeAll { $0 === waiter }
            if lockWaiters.isEmpty { attention.set(Attention.toLock, to: false) }
        }
    }

    /// A woken waiter is about to try, so from now on it can be woken again.
    func welcome(_ waiter: LockWaiter) {
        lock.around { waiter.isWoken = false }
    }

    /// Wakes the first in line, if it is not on its way.
    ///
    /// If it comes too late, because another thread has the lock by then, that one's unlocking wakes it again.
    func tellLockIsFree() {
        if attention.load() & Attention.toLock == 0 { return }
        let first: LockWaiter? = lock.around {
            guard let first = lockWaiters.first, !first.isWoken else { return nil }
            first.isWoken = true
            return first
        }
        first?.parking.signal()
    }
}

extension ProtectedStorage {
    /// Takes the lock if that is possible in time.
    @usableFromInline
    func lock(by deadline: Deadline) -> Bool {
        switch deadline {
        case .never:
            lock()
            return true
        case .passed:
            return tryLock()
        case .at(let time):
            return tryLock() || waitForLock(until: time)
        }
    }

    private func waitForLock(until time: DispatchTime) -> Bool {
        unsafe withUnsafeMutablePointerToElements { lock in
            unsafe PlatformLock.Storage.failIfHeld(AttendedLock.lock(lock))
        }
        // Most accesses are over before a thread is asleep.
        for _ in 0..<40 {
            pauseSpinning()
            if tryLock() { return true }
        }
        let (attendants, waiter) = (attendants, LockWaiter())
        if attendants.add(waiter) { sendScout() }
        while true {
            if tryLock() {
                attendants.remove(waiter)
                return true
            }
            if waiter.parking.wait(timeout: time) == .timedOut {
                attendants.remove(waiter)
                // It may have been woken at the same time, and nobody else for it.
                return tryLock()
            }
            attendants.welcome(waiter)
        }
    }

    private func sendScout() {
        // It touches the lock, and not the value.
        nonisolated(unsafe) let storage = self
        DispatchQueue.global().async {
            unsafe storage.lock()
            unsafe storage.attendants.welcomeScout()
            unsafe storage.unlock()
        }
    }
}
