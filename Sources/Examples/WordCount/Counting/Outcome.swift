//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// What the threads found.
struct Outcome {
    let counts: WordCounts
    let report: Report
    let threads: Int
    let seconds: Double
}

extension DispatchTime {
    /// How long ago this was.
    var secondsUntilNow: Double {
        Double(DispatchTime.now().uptimeNanoseconds - uptimeNanoseconds) / 1e9
    }
}
