//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What is told when a time has come. It does not keep the object that it tells.
package protocol TimerTarget: Sendable {
    /// Tells the object, if it is still there. What follows may run any code.
    func timerFired()
}

/// A time at which a target is to be told.
///
/// `@unchecked Sendable`: `place` is guarded by the lock of the timers.
package final class Timer: @unchecked Sendable {
    let time: UInt64
    let target: any TimerTarget
    package var place: Int?

    package init(_ time: UInt64, _ target: any TimerTarget) {
        self.time = time
        self.target = target
    }
}

extension Timer: Ordered {
    package func precedes(_ other: Timer) -> Bool { time < other.time }
}
