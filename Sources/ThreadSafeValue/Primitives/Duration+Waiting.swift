//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension DispatchTimeInterval {
    /// The same time, where that can be told in nanoseconds; else for ever.
    @usableFromInline
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        // Rounded up: a short time is not none.
        let (sum, isLonger) = whole.addingReportingOverflow((attoseconds + 999_999_999) / 1_000_000_000)
        let nanoseconds = isTooLong || isLonger ? nil : Int(exactly: sum)
        self = nanoseconds.map { .nanoseconds($0) } ?? (seconds < 0 ? .nanoseconds(0) : .never)
    }
}
