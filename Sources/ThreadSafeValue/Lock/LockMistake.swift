//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// How a wrong use of a lock ends: in the same words whatever the lock is made of.
///
/// Functions that are not inlined, so that the paths which check for mistakes stay small enough to be. They use
/// `fatalError`, because `precondition` says nothing in release.
@usableFromInline
enum LockMistake {
    /// - Parameter name: The lock, if it is known.
    @usableFromInline @inline(never)
    static func failLockedTwice(_ name: String = "") -> Never {
        fatalError(
            """
            This thread takes a lock that it already holds\(name.isEmpty ? "" : ": \(name)"). It would wait for itself \
            forever. Further down in its call stack is an access that is not over. Does what that calls come back to \
            the value: its closure, the arguments of a method, the right side of a `?.`, a condition that somebody \
            waits for, the `deinit` of what it lets go? Use the closure's parameter, or take what is needed before. Or \
            was the lock held across an `await`, and the thread runs another task meanwhile?
            """
        )
    }

    @usableFromInline @inline(never)
    static func failNotHeld() -> Never {
        fatalError("This thread unlocks a lock that it doesn't hold. Was the lock held across an `await`?")
    }

    @usableFromInline @inline(never)
    static func failHeldAtEnd() -> Never {
        fatalError("A lock goes away while a thread holds it. Keep it until it is unlocked.")
    }

    /// - Parameter circle: What this thread waits for, what the thread that holds that waits for, and so on, up to
    ///   what this thread holds.
    @inline(never)
    static func failCircle(_ circle: [WaitGraph.Resource]) -> Never {
        schedulerFoundCircle()
        let names = circle.map(\.name)
        fatalError(
            """
            Threads take locks in different orders, and would wait for each other forever. This thread waits for \
            \(names.joined(separator: ", whose holder waits for ")), which this thread holds. Lock \
            several values at once, with withLocked, and then nest accesses to them nowhere, or nest them in one order \
            everywhere, and neither compare nor swap them.
            """
        )
    }
}
