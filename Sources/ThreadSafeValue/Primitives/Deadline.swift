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
        let nanoseconds = timeout.waitingNanoseconds
        self.init(time: nanoseconds == 0 || nanoseconds == .max ? nanoseconds : now() + nanoseconds)
    }
}
