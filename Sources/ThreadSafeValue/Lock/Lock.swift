//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A lock that one thread at a time holds.
///
/// Prefer ``around(_:)``: it cannot forget to unlock. Prefer ``Protected`` where the lock guards one value.
///
/// - Warning: A lock belongs to the thread that took it. Taking it again on that thread crashes, and so does unlocking
///   it on another one, or letting it go away while it is held, each with a message that says so. It stays held if its
///   thread ends, and a new thread may then be taken for the old one.
public protocol Lock: Sendable {
    /// Creates a lock that nobody holds.
    init()

    /// Takes the lock, waiting until the thread that holds it unlocks it.
    ///
    /// - Warning: Crashes if the calling thread holds the lock already.
    @available(*, noasync, message: "A task may go on with another thread after an `await`. Use `around`.")
    func lock()

    /// Takes the lock if nobody holds it, and never waits.
    ///
    /// - Returns: Whether the calling thread has the lock now; `false` also if it held it before.
    @available(*, noasync, message: "A task may go on with another thread after an `await`. Use `around`.")
    func tryLock() -> Bool

    /// Gives the lock back.
    ///
    /// - Warning: Crashes if the calling thread doesn't hold the lock.
    @available(*, noasync, message: "A task may go on with another thread after an `await`. Use `around`.")
    func unlock()
}

extension Lock {
    /// Runs a closure on the calling thread while it holds the lock.
    ///
    /// The lock is free again when this returns or throws.
    ///
    /// - Parameter body: What to do with the lock held. Crashes if it takes the same lock again.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    @inlinable
    public func around<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock()
        return try scope(body) { unlock() }
    }

    /// Runs a closure on the calling thread while it holds the lock: the same as ``around(_:)``.
    ///
    /// - Parameter body: What to do with the lock held. Crashes if it takes the same lock again.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    @inlinable
    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try around(body)
    }
}
