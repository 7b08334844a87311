//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#endif

/// The timers of all command queues, on one thread of their own, which starts with the first.
///
/// Not on a dispatch queue: the timers are there for when the pools of threads are full.
struct Timekeeper: Sendable {
    static let shared = Timekeeper()

    private struct Timer: Sendable {
        let time: UInt64
        let fire: @Sendable () -> AnyObject?

        // Not inlined, so that the caller has no other reference to what is left.
        @inline(never)
        func fireAndLeave() -> Unmanaged<AnyObject>? {
            unsafe fire().map { unsafe .passRetained($0) }
        }
    }

    /// The latest first.
    private let timers = Protected<[Timer]>([])
    private let parker = Parker()

    private init() {
        startThread { [self] in
            while true {
                let (due, next) = takeDue()
                for timer in due {
                    guard let left = unsafe timer.fireAndLeave() else { continue }
                    nonisolated(unsafe) let last = unsafe left
                    DispatchQueue.global().async { unsafe last.release() }
                }
                if due.isEmpty { _ = parker.park(until: next) }
            }
        }
    }
}

extension Timekeeper {
    /// Calls `fire` once, soon after `time` of `now()`, on the timekeeper's thread. It must be brief.
    ///
    /// It returns the object that it was about. By then that reference may be the last, and an object may do anything when it
    /// goes away, so it is let go on another thread.
    func set(_ time: UInt64, fire: @escaping @Sendable () -> AnyObject?) {
        let isNext = timers.write { timers in
            // Times come nearly in order, so the place is near the front of what is left, which is short.
            let place = timers.firstIndex { $0.time <= time } ?? timers.endIndex
            timers.insert(Timer(time: time, fire: fire), at: place)
            return place == timers.count - 1
        }
        if isNext { parker.wake() }
    }

    private func takeDue() -> (due: [Timer], next: UInt64) {
        let time = now()
        return timers.write { timers in
            let firstDue = timers.firstIndex { $0.time <= time } ?? timers.endIndex
            let due = Array(timers[firstDue...].reversed())
            timers.removeSubrange(firstDue...)
            return (due, timers.last?.time ?? .max)
        }
    }
}

/// Runs `body` on a new thread for as long as the process lives.
private func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    #if canImport(Darwin)
    var thread: pthread_t?
    #else
    var thread = pthread_t()
    #endif
    let start = unsafe Unmanaged.passRetained(Start(body))
    let code = unsafe pthread_create(
        &thread,
        nil,
        { argument in
            let argument: UnsafeMutableRawPointer? = unsafe argument
            unsafe Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue().body()
            return nil
        },
        start.toOpaque()
    )
    if code != 0 { fatalError("ThreadSafeValue: pthread_create failed with code \(code)") }
}
