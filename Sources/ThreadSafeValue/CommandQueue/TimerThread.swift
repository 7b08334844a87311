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
@safe
struct TimerThread: Sendable {
    static let shared = TimerThread()

    fileprivate final class Timer: Sendable {
        let time: UInt64
        let fire: @Sendable () -> Void

        init(time: UInt64, fire: @escaping @Sendable () -> Void) {
            self.time = time
            self.fire = fire
        }
    }

    /// The latest first, each retained once.
    private let timers = unsafe Protected<[Unmanaged<Timer>]>([])
    private let parker = Parker()

    private init() {
        startThread { [self] in
            while true {
                let (due, next) = unsafe takeDue()
                for unsafe timer in unsafe due {
                    unsafe timer._withUnsafeGuaranteedRef { $0.fire() }
                    // What it captured may go away with it, and run any code, so that happens on another thread.
                    DispatchQueue.global().async { unsafe timer.release() }
                }
                if unsafe due.isEmpty { _ = parker.park(until: next) }
            }
        }
    }
}

extension TimerThread {
    /// Calls `fire` once, soon after `time` of `now()`, on the timer thread. It must be brief.
    func set(_ time: UInt64, fire: @escaping @Sendable () -> Void) {
        let timer = unsafe Unmanaged.passRetained(Timer(time: time, fire: fire))
        let isNext = unsafe timers.write { timers in
            // Times come nearly in order, so the place is near the front of what is left, which is short.
            let place = unsafe timers.firstIndex { unsafe $0.time <= time } ?? timers.endIndex
            unsafe timers.insert(timer, at: place)
            return unsafe place == timers.count - 1
        }
        if isNext { parker.wake() }
    }

    private func takeDue() -> (due: [Unmanaged<Timer>], next: UInt64) {
        let time = now()
        return unsafe timers.write { timers in
            let firstDue = unsafe timers.firstIndex { unsafe $0.time <= time } ?? timers.endIndex
            let due = unsafe Array(timers[firstDue...].reversed())
            unsafe timers.removeSubrange(firstDue...)
            return unsafe (due, timers.last?.time ?? .max)
        }
    }
}

extension Unmanaged where Instance == TimerThread.Timer {
    fileprivate var time: UInt64 { unsafe _withUnsafeGuaranteedRef { $0.time } }
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
