//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The threads that wait with a time-out for one lock of the system, which has no line for them.
///
/// Each release wakes the one that came first. Another thread may be faster, as with any lock of the system. But once in
/// five milliseconds the releasing thread rests for as long as a thread takes to wake up, so that one that takes the
/// lock again and again is not always the first.
///
/// Each sleeper looks for itself now and then: to free the lock and to look for a sleeper are two steps, which another
/// processor may see in the other order.
package final class TimedLine {
    private let mutex = PthreadMutex()

    // Guarded by `mutex`.
    private var line = SleeperLine()

    /// Told whether a thread sleeps, under `mutex`.
    private let whenWaitedFor: (Bool) -> Void

    /// For how long a thread sleeps before it looks for itself, in nanoseconds: twice as long each time.
    private let lookDelay: UInt64

    package init(lookDelay: UInt64 = HandoffPolicy.circle, whenWaitedFor: @escaping (_ isWaitedFor: Bool) -> Void) {
        (self.lookDelay, self.whenWaitedFor) = (lookDelay, whenWaitedFor)
        line.handoffDelay = HandoffPolicy.rest
    }
}

// See its members.
extension TimedLine: @unchecked Sendable {}

extension TimedLine {
    /// Puts the calling thread to sleep until it has the lock, or until a time of `now()`.
    ///
    /// - Returns: Whether it has the lock.
    package func wait(until time: UInt64, _ tryLock: () -> Bool) -> Bool {
        let sleeper = Sleeper(currentThreadIdentity())
        defer { change { $0.remove(sleeper) } }  // fault: out of time, it is still timed
        var delay = lookDelay
        while true {
            // From here on a release wakes it. A thread that was woken too late keeps its place.
            change { line in
                line.remove(sleeper)
                line.insert(sleeper, at: now())
            }
            if tryLock() { return true }
            let start = now()
            if start >= time { return false }
            if !sleeper.parker.park(until: min(start + delay, time)) { delay *= 2 }
        }
    }

    /// Wakes the thread that came first, after a release.
    package func wakeFront() {
        let time = now()
        let (isOwed, front) = change { ($0.owesFront(at: time), $0.removeFirst()) }
        front?.parker.wake()  // fault: the timed front is not woken
        if isOwed { _ = Parker().park(until: time + HandoffPolicy.restLength) }
    }

    private func change<Answer>(_ body: (inout SleeperLine) -> Answer) -> Answer {
        mutex.around {
            defer { whenWaitedFor(!line.isEmpty) }
            return body(&line)
        }
    }
}
