//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension DispatchTimeInterval {
    /// The same time, where that can be told in nanoseconds; else for ever.
    @usableFromInline
    init(_ duration: Duration) {
        // Before it is taken apart, which crashes for a time that is longer than all seconds.
        guard duration < .nanoseconds(Int64.max) else {
            self = .never
            return
        }
        let (seconds, attoseconds) = max(duration, .zero).components
        // Rounded up: a short time is not none.
        let nanoseconds = Int(exactly: seconds * 1_000_000_000 + (attoseconds + 999_999_999) / 1_000_000_000)
        self = nanoseconds.map { .nanoseconds($0) } ?? .never
    }
}
