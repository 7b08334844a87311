//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Crashes with a message after a wrong use of a lock, in the same words for every kind of lock.
///
/// The functions are not inlined, so that the code that checks for mistakes stays small enough to be inlined itself. They
/// use `fatalError`, because `precondition` prints nothing in release.
@usableFromInline enum LockMistake {
    /// A thread takes a lock that it already holds.
    ///
    /// - Parameter name: The name of the lock; empty if it is not known.
    @usableFromInline @inline(never) static func failLockedTwice(_ name: String = "") -> Never {
        fatalError(
            """
            This thread takes a lock that it already holds\(name.isEmpty ? "" : ": \(name)"). It would wait for itself \
            forever. An outer access on its call stack is not over, and code inside that access uses the value again. \
            Look at its closure, its arguments, and the right side of a `?.`. Look for two `&` in one call, as in \
            `swap(&p.a, &p.b)`. Look at the condition of a wait, and at the `deinit` of an object that the access \
            removes. Use the parameter of the closure, or read what you need before. Or did a task suspend while it \
            held the lock, so that the thread runs another task now?
            """
        )
    }

    @usableFromInline @inline(never) static func failNotHeld() -> Never {
        fatalError("This thread unlocks a lock that it doesn't hold. Was the lock held across an `await`?")
    }

    @usableFromInline @inline(never) static func failHeldAtEnd() -> Never {
        fatalError("A lock goes away while a thread holds it. Keep the lock until it is unlocked.")
    }

    /// Threads wait for each other in a circle.
    ///
    /// - Parameter circle: The lock that this thread waits for, the lock that its holder waits for, and so on. This
    ///   thread holds the last one.
    @inline(never) static func failCircle(_ circle: [WaitGraph.Resource]) -> Never {
        schedulerFoundCircle()
        let names = circle.map(\.name)
        fatalError(
            """
            Threads take locks in different orders, and would wait for each other forever. This thread waits for \
            \(names.joined(separator: ", whose holder waits for ")), which this thread holds. Either lock the values \
            together, with withLocked, and never nest accesses to them. Or nest the accesses in one order everywhere, \
            and never compare or swap the values.
            """
        )
    }
}
