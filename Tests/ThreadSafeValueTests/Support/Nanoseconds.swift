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

/// After how long a queue is late, and may change an answer. A busy machine makes any queue late.
let timeUntilLate: UInt64 = 5_000_000

/// Whether a closure takes too little time for a queue to be late.
func isTooQuickToBeLate(_ body: () throws -> Void) rethrows -> Bool {
    try nanoseconds(of: body) < timeUntilLate
}

/// Uses the processor for some nanoseconds.
func spin(_ duration: UInt64) {
    let end = nanoseconds() + duration
    while nanoseconds() < end {}
}
