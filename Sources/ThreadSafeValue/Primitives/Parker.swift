//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The place where one waiting thread sleeps until another wakes it.
///
/// A wake that comes first is not lost: the next `park()` returns at once. A thread may be woken once too often, so
/// whoever parks checks again what it waited for.
@usableFromInline
package final class Parker: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    /// The thread that made it.
    let thread = currentThreadIdentity()

    package init() {}
}

extension Parker {
    package func park() {
        semaphore.wait()
    }

    /// Sleeps until another thread wakes this one, but no longer than until a time of `now()`.
    ///
    /// - Returns: Whether it was woken.
    func park(until deadline: UInt64) -> Bool {
        let time = deadline == .max ? DispatchTime.distantFuture : DispatchTime(uptimeNanoseconds: deadline)
        // It may be early: on Linux it sleeps until a time of another clock.
        while semaphore.wait(timeout: time) != .success {
            if now() >= deadline { return false }
        }
        return true
    }

    @usableFromInline
    package func wake() {
        semaphore.signal()
    }
}

/// Nanoseconds of a clock that never runs backwards.
package func now() -> UInt64 {
    DispatchTime.now().uptimeNanoseconds
}
