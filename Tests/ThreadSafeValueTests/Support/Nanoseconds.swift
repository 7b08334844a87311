//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation

/// The time, in nanoseconds of a clock that never runs backwards.
func nanoseconds() -> UInt64 {
    DispatchTime.now().uptimeNanoseconds
}

/// How long a closure takes, in nanoseconds.
func nanoseconds(of body: () throws -> Void) rethrows -> UInt64 {
    let begin = nanoseconds()
    try body()
    return nanoseconds() - begin
}

/// How long the calling thread has used a processor, in nanoseconds.
func processorNanoseconds() -> UInt64 {
    var time: (seconds: Int, nanoseconds: Int) = (0, 0)
    _ = unsafe getTime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.seconds) * 1_000_000_000 + UInt64(time.nanoseconds)
}

// An optimizing compiler takes the structure of `clock_gettime` for one of another module, which is not imported.
@_silgen_name("clock_gettime")
private func getTime(_ clock: clockid_t, _ time: UnsafeMutableRawPointer) -> CInt

/// Uses the processor for some nanoseconds.
func spin(_ duration: UInt64) {
    let end = nanoseconds() + duration
    while nanoseconds() < end {}
}
