//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CMachine
import Dispatch

/// Work of a given length for the processor, which a thread does all of, however often it is interrupted.
package struct Work: Sendable {
    private let steps: Int64

    /// - Parameter nanoseconds: How long it takes a thread that is not interrupted.
    package init(nanoseconds: Double) {
        steps = Int64(nanoseconds * Self.stepsPerNanosecond)
    }

    package func perform() {
        machine_work(steps)
    }

    private static let stepsPerNanosecond: Double = {
        let steps: Int64 = 100_000
        // The least of several: the others were interrupted.
        let times = (0..<50).map { _ in
            let start = DispatchTime.now().uptimeNanoseconds
            machine_work(steps)
            return DispatchTime.now().uptimeNanoseconds - start
        }
        return Double(steps) / Double(times.min()!)
    }()
}
