//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The timers of the system, on a serial queue of the library: that has a thread even when the global queues have none.
///
/// What they call is quick, and runs no code of the library's user.
enum LibraryTimers {
    private static let queue = DispatchQueue(label: "ThreadSafeValue.timers", qos: .userInitiated)

    /// Calls `body` once, some nanoseconds from now.
    static func call(after nanoseconds: UInt64, _ body: @escaping @Sendable () -> Void) {
        if schedulerCalls(body, at: now() + nanoseconds) { return }
        queue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: now() + nanoseconds), execute: body)
    }

    /// Calls `body` at a time of `now()`, unless that is cancelled before.
    static func timer(at time: UInt64, _ body: @escaping @Sendable () -> Void) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: DispatchTime(uptimeNanoseconds: time))
        timer.setEventHandler(handler: body)
        if schedulerCalls(body, at: time, for: timer) { timer.schedule(deadline: .distantFuture) }
        timer.activate()
        return timer
    }
}
