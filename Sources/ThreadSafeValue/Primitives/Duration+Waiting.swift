//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension DispatchTimeInterval {
    /// The same time, rounded up; for ever if that is longer than some hundred years.
    @usableFromInline
    init(_ duration: Duration) {
        // Before it is taken apart, which crashes for a time that is longer than all seconds.
        guard duration < .nanoseconds(Int64.max) else {
            self = .never
            return
        }
        let (seconds, attoseconds) = max(duration, .zero).components
        // Rounded up: a short time is not none.
        let nanoseconds = seconds * 1_000_000_000 + (attoseconds + 999_999_999) / 1_000_000_000
        if let amount = Int(exactly: nanoseconds) {
            self = .nanoseconds(amount)
        } else {
            // On watchOS, where an `Int` may have 32 bits.
            self =
                Int(exactly: nanoseconds / 1_000_000 + 1).map { .milliseconds($0) }
                ?? Int(exactly: nanoseconds / 1_000_000_000 + 1).map { .seconds($0) } ?? .never
        }
    }
}
