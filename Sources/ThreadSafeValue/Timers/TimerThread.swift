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

/// What is told when a time has come. It does not keep the object that it tells.
protocol TimerTarget: Sendable {
    /// Tells the object, if it is still there.
    ///
    /// - Returns: The object. The reference may be the last one.
    func timerFired() -> Unmanaged<AnyObject>?
}

/// Timers, on a thread of their own, which starts with the first.
///
/// Not on a dispatch queue: the timers are there for when the pools of threads are full.
struct TimerThread: Sendable {
    /// For the lines of command queues. It runs nobody else's code, so nothing holds it up.
    static let lines = TimerThread()

    /// For what tasks wait for. To resume a task calls its executor, which may wait for a value whose line waits for
    /// its timer.
    static let tasks = TimerThread()

    private let timers = Protected(TimerHeap())
    private let parker = Parker()

    private init() {
        startThread { [self] in
            while true {
                let time = now()
                let (due, next) = timers.write { ($0.takeDue(at: time), $0.first?.time ?? .max) }
                for timer in due {
                    guard let object = unsafe timer.target.timerFired() else { continue }
                    // An object that goes away may run any code, so it goes on another thread.
                    nonisolated(unsafe) let last = unsafe object
                    DispatchQueue.global().async { unsafe last.release() }
                }
                if due.isEmpty { _ = parker.park(until: next) }
            }
        }
    }
}

extension TimerThread {
    /// Calls `timerFired` of a target once, soon after `time` of `now()`.
    ///
    /// - Returns: The timer, to be removed when it is not needed any more.
    /// - Complexity: O(log number of timers).
    @discardableResult
    func set(_ time: UInt64, for target: any TimerTarget) -> Timer {
        let timer = Timer(time, target)
        let isNext = timers.write { timers in
            timers.insert(timer)
            return timers.first === timer
        }
        if isNext { parker.wake() }
        return timer
    }

    /// Takes a timer out, if it has not fired.
    ///
    /// - Complexity: O(1) on average.
    func remove(_ timer: Timer) {
        timers.write { $0.remove(timer) }
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
