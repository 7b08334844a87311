//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// How a wrong use of a lock ends: in the same words whatever the lock is made of.
///
/// Functions that are not inlined, so that the paths which check for mistakes stay small enough to be. They use
/// `fatalError`, because `precondition` says nothing in release.
@usableFromInline
enum LockMistake {
    @usableFromInline
    @inline(never)
    static func failLockedTwice() -> Never {
        fatalError("This thread takes a lock that it already holds. It would wait for itself forever.")
    }

    @usableFromInline
    @inline(never)
    static func failNotHeld() -> Never {
        fatalError("This thread unlocks a lock that it doesn't hold. Was the lock held across an `await`?")
    }

    @usableFromInline
    @inline(never)
    static func failHeldAtEnd() -> Never {
        fatalError("A lock goes away while a thread holds it.")
    }
}
