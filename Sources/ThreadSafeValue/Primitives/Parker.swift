//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Public, because time-outs are given in its type.
public import Dispatch

// How a thread waits: it looks a few times, and then sleeps until it is woken, or until its time is up.

/// The place where one waiting thread sleeps until another wakes it.
///
/// A wake that comes first is not lost: the next `park()` returns at once. A thread may be woken once too often, so
/// whoever parks checks again what it waited for.
package final class Parker {
    private let semaphore = DispatchSemaphore(value: 0)

    package init() {}
}

// See the members.
extension Parker: @unchecked Sendable {}

extension Parker {
    /// Sleeps until another thread wakes this one, but no longer than until a time of `now()`.
    ///
    /// - Returns: Whether it was woken.
    @discardableResult package func park(until deadline: UInt64 = .max) -> Bool {
        if let isWoken = schedulerPark(self, deadline) { return isWoken }
        let time = deadline == .max ? DispatchTime.distantFuture : DispatchTime(uptimeNanoseconds: deadline)
        // It may be early: on Linux it sleeps until a time of another clock.
        while semaphore.wait(timeout: time) != .success {
            if now() >= deadline { return false }
        }
        return true
    }

    package func wake() {
        if schedulerWake(self) { return }
        semaphore.signal()
    }
}

/// The pauses of a thread that looks several times for something that another thread is about to do.
///
/// They grow, because each look takes the word out of the other processor's cache. They grow by four: 2 threads took
/// 0.4 to 0.5 of a peer's time; with doubling, 0.5 to 0.8. They end at 32: with 16, 8 threads took 1.4 times as long.
/// And the first is short: with one of 8, threads that collide now and then, and hold the value for 60 to 300 ns, were up
/// to 1.15 times as slow.
/// The thread never yields the processor: it would not know when it runs again.
struct Backoff {
    /// How many pauses to make altogether, each of about 25 ns.
    var spins: Int

    var length = 1

    /// How many pauses take about as long as to park and to be woken. On a single processor nothing changes meanwhile.
    static let spinsBeforeParking = processorCount() == 1 ? 0 : 200

    /// About as long as it takes to park and to be woken. On virtual time, too, nothing changes meanwhile.
    static var beforeParking: Backoff { Backoff(spins: schedulerTime() == nil ? spinsBeforeParking : 0) }

    /// Whether no pause is left.
    var isOver: Bool { spins <= 0 }

    /// Lets a little time pass.
    ///
    /// - Returns: Whether it is worth to look again; otherwise no time has passed, and a thread should park.
    mutating func pause() -> Bool {
        if isOver { return false }
        for _ in 0..<length { pauseSpinning() }
        spins -= length
        length = min(length * 4, 32)
        return true
    }
}

/// Until when to wait for something.
@usableFromInline struct Deadline: Equatable, Sendable {
    /// A time of `now()`; 0 for one that has passed, `.max` for one that never comes.
    let time: UInt64
}

extension Deadline {
    /// However long it takes.
    @usableFromInline static var never: Deadline { Deadline(time: .max) }

    /// After more than a lifetime.
    static var someDay: Deadline { Deadline(time: 1 << 62) }

    /// Not at all.
    static var passed: Deadline { Deadline(time: 0) }

    /// The end of a time-out that begins now.
    @usableFromInline init(after timeout: DispatchTimeInterval) { self.init(after: timeout.waitingNanoseconds) }

    /// The end of a time-out in nanoseconds that begins now: 0 for none at all, `.max` for one that never ends.
    @usableFromInline init(after nanoseconds: UInt64) {
        self.init(time: nanoseconds == 0 || nanoseconds == .max ? nanoseconds : now() + nanoseconds)
        schedulerTimeout(time)
    }

    var hasPassed: Bool { time <= now() }

    /// Whether it will pass.
    var isTime: Bool { self != .passed && self != .never }

    /// Whether it has passed since the wait began.
    var isOver: Bool { isTime && hasPassed }
}

/// Nanoseconds of a clock that never runs backwards.
package func now() -> UInt64 { schedulerTime() ?? DispatchTime.now().uptimeNanoseconds }
