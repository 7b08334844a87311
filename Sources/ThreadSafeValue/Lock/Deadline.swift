//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

/// How long to wait for something.
@usableFromInline
enum Deadline: Equatable, Sendable {
    /// However long it takes.
    case never
    /// Not at all.
    case passed
    case at(DispatchTime)
}

extension Deadline {
    /// The end of a time-out that begins now.
    @usableFromInline
    init(after timeout: DispatchTimeInterval) {
        switch timeout {
        case .never:
            self = .never
        case .seconds(let count), .milliseconds(let count), .microseconds(let count), .nanoseconds(let count):
            self = count > 0 ? .at(.now() + timeout) : .passed
        @unknown default:
            self = .at(.now() + timeout)
        }
    }
}
