//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A lock that one thread at a time holds.
///
/// Prefer ``around(_:)``, which never forgets to unlock. Prefer ``Protected`` if the lock guards one value.
///
/// - Warning: A lock belongs to the thread that took it. The program crashes with a message if that thread takes the
///   lock again, or another thread unlocks it. Don't release a lock from memory while a thread holds it: this may crash
///   too. If a thread ends while it holds a lock, the lock stays held, and a later thread may be mistaken for the holder.
public protocol Lock: Sendable {
    /// Creates a lock that no thread holds.
    init()

    /// Takes the lock; the calling thread waits while another thread holds it.
    ///
    /// - Warning: The program crashes if the calling thread already holds the lock.
    @available(*, noasync, message: "A task may continue on another thread after an `await`. Use `around`.")
    func lock()

    /// Takes the lock if no thread holds it, and never waits.
    ///
    /// - Returns: `true` if the calling thread has taken the lock; `false` if any thread held it, even the calling one.
    @available(*, noasync, message: "A task may continue on another thread after an `await`. Use `around`.")
    func tryLock() -> Bool

    /// Gives the lock back.
    ///
    /// - Warning: The program crashes if the calling thread does not hold the lock.
    @available(*, noasync, message: "A task may continue on another thread after an `await`. Use `around`.")
    func unlock()
}

extension Lock {
    /// Runs a closure on the calling thread, which holds the lock meanwhile.
    ///
    /// The lock is free again when this method returns or throws.
    ///
    /// - Parameter body: The code that needs the lock. The program crashes if it takes the same lock again.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    @inlinable public func around<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock()
        return try scope(body) { unlock() }
    }

    /// Runs a closure on the calling thread, which holds the lock meanwhile: the same as ``around(_:)``.
    ///
    /// - Parameter body: The code that needs the lock. The program crashes if it takes the same lock again.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    @inlinable public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try around(body)
    }
}
