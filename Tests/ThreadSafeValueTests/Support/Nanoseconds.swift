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

/// Uses the processor for some nanoseconds.
func spin(_ duration: UInt64) {
    let end = nanoseconds() + duration
    while nanoseconds() < end {}
}
