//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Public, because time-outs are given in its type.
public import Dispatch

/// Until when to wait for something.
@usableFromInline
struct Deadline: Equatable, Sendable {
    /// A time of `now()`; 0 for one that has passed, `.max` for one that never comes.
    @usableFromInline
    let time: UInt64

    @usableFromInline
    init(time: UInt64) {
        self.time = time
    }
}

extension Deadline {
    /// However long it takes.
    @usableFromInline
    static var never: Deadline { Deadline(time: .max) }

    /// Not at all.
    @usableFromInline
    static var passed: Deadline { Deadline(time: 0) }

    /// The end of a time-out that begins now.
    @usableFromInline
    init(after timeout: DispatchTimeInterval) {
        self.init(after: timeout.waitingNanoseconds)
    }

    /// The end of a time-out in nanoseconds that begins now: 0 for none at all, `.max` for one that never ends.
    init(after nanoseconds: UInt64) {
        self.init(time: nanoseconds == 0 || nanoseconds == .max ? nanoseconds : now() + nanoseconds)
    }

    var hasPassed: Bool { time <= now() }

    /// Whether it will pass.
    var isTime: Bool { self != .passed && self != .never }
}
