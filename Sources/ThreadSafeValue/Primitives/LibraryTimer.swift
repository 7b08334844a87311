//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// Something that is called at a time of `now()`, unless it is cancelled before.
///
/// One thread of the library calls all timers: a program that keeps every thread of a pool busy stops none. What it
/// calls is quick, and runs no code of the library's user.
package final class LibraryTimer: @unchecked Sendable {
    private let time: UInt64

    // Guarded by the mutex.
    package var place: Int?
    private var body: (@Sendable () -> Void)?

    private init(at time: UInt64, _ body: @escaping @Sendable () -> Void) { (self.time, self.body) = (time, body) }
}

extension LibraryTimer: Ordered { package func precedes(_ other: LibraryTimer) -> Bool { time < other.time } }

extension LibraryTimer {
    // A semaphore, as locks are no primitives. Held for moments.
    private static let mutex = DispatchSemaphore(value: 1)

    // Guarded by the mutex.
    private nonisolated(unsafe) static var timers = IndexedHeap<LibraryTimer>()

    /// The place where the thread sleeps. It starts with the first timer.
    private static let thread: Parker = {
        startThread()
        return Parker()
    }()

    /// Sets a timer.
    ///
    /// - Parameters:
    ///   - time: When to call `body`.
    ///   - body: Called once, on the thread of the timers.
    /// - Returns: The timer, to cancel it.
    @discardableResult static func set(at time: UInt64, _ body: @escaping @Sendable () -> Void) -> LibraryTimer {
        let timer = LibraryTimer(at: time, body)
        if schedulerCalls(body, at: time, for: timer) { return timer }
        let isFirst = guarded { timers in
            timers.insert(timer)
            return timers.elements.first === timer
        }
        if isFirst { thread.wake() }  // fault: an earlier time is slept over
        return timer
    }

    func cancel() {
        schedulerCancels(self)
        let body = Self.guarded { timers in
            timers.remove(self)
            return self.body.take()
        }
        // The closure and what it captured go away without the mutex.
        withExtendedLifetime(body) {}
    }

    private static func guarded<Answer>(_ access: (inout IndexedHeap<LibraryTimer>) -> Answer) -> Answer {
        mutex.wait()
        defer { mutex.signal() }
        return unsafe access(&timers)
    }

    static func callForEver() -> Never {
        while true {
            let (body, next) = guarded { timers -> ((@Sendable () -> Void)?, UInt64) in
                guard let first = timers.elements.first else { return (nil, .max) }
                if first.time > now() { return (nil, first.time) }
                timers.remove(first)
                return (first.body.take(), 0)
            }
            if let body { body() } else { thread.park(until: next) }
        }
    }
}
