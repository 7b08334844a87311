//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Public, for inlinable code: where the interval is a literal, the compiler computes this. The member is not.
public import Dispatch

extension DispatchTimeInterval {
    /// The interval as nanoseconds to wait: 0 for what is negative, `.max` for what is for ever or cannot be told from
    /// it.
    @inlinable package var waitingNanoseconds: UInt64 {
        let (amount, unit): (Int, UInt64) =
            switch self {
            case .seconds(let seconds): (seconds, 1_000_000_000)
            case .milliseconds(let milliseconds): (milliseconds, 1_000_000)
            case .microseconds(let microseconds): (microseconds, 1_000)
            case .nanoseconds(let nanoseconds): (nanoseconds, 1)
            default: (Int.max, .max)
            }
        guard amount > 0 else { return 0 }
        let (product, isTooLong) = UInt64(amount).multipliedReportingOverflow(by: unit)
        // A hundred years: no sum of such times overflows.
        return isTooLong || product > 3_155_760_000_000_000_000 ? .max : product
    }
}
