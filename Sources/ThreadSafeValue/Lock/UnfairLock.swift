//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if canImport(Darwin)
// Public, because inlinable code calls into it.
public import Darwin

/// A lock made of an `os_unfair_lock`: the default on Apple systems.
///
/// A waiting thread lends its priority to the one that holds the lock. The system crashes a thread that takes the lock
/// twice, or unlocks one that it doesn't hold, and says so. Threads that take several such locks in different orders
/// may wait for each other forever.
public final class UnfairLock {
    @usableFromInline
    let cell = LockCell<Storage>()

    /// Creates a lock that nobody holds.
    @inlinable
    public init() {}
}

extension UnfairLock: Lock {
    /// Takes the lock, waiting until the thread that holds it unlocks it.
    ///
    /// - Warning: Crashes if the calling thread holds the lock already.
    @inlinable
    @available(*, noasync, message: "A task may go on with another thread after an `await`. Use `around`.")
    public func lock() {
        unsafe Storage.lock(cell.storage, for: UnfairLock.self)
    }

    /// Takes the lock if nobody holds it, and never waits.
    ///
    /// - Returns: Whether the calling thread has the lock now; `false` also if it held it before.
    @inlinable
    @available(*, noasync, message: "A task may go on with another thread after an `await`. Use `around`.")
    public func tryLock() -> Bool {
        unsafe Storage.tryLock(cell.storage)
    }

    /// Gives the lock back.
    ///
    /// - Warning: Crashes if the calling thread doesn't hold the lock.
    @inlinable
    @available(*, noasync, message: "A task may go on with another thread after an `await`. Use `around`.")
    public func unlock() {
        // The memory of the lock stays until the lock is free.
        withExtendedLifetime(self) { unsafe Storage.unlock(cell.storage) }
    }
}

extension UnfairLock {
    /// The lock itself, for whoever keeps it in memory of their own.
    @safe
    @usableFromInline
    struct Storage: LockStorage {
        @usableFromInline
        var handle: os_unfair_lock_s
    }
}

extension UnfairLock.Storage {
    @inlinable
    static func initialize(_ storage: UnsafeMutablePointer<Self>) {
        unsafe handle(storage).initialize(to: os_unfair_lock_s())
    }

    @inlinable
    static func deinitialize(_ storage: UnsafeMutablePointer<Self>) {}

    @inlinable
    static func lock(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type) {
        unsafe os_unfair_lock_lock(handle(storage))
    }

    @usableFromInline
    static func failIfHeld(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type) {
        unsafe os_unfair_lock_assert_not_owner(handle(storage))
    }

    @inlinable
    static func tryLock(_ storage: UnsafeMutablePointer<Self>) -> Bool {
        unsafe os_unfair_lock_trylock(handle(storage))
    }

    @inlinable
    static func unlock(_ storage: UnsafeMutablePointer<Self>) {
        unsafe os_unfair_lock_unlock(handle(storage))
    }

    // An address, and not `&storage.pointee.handle`: that would be an access to the whole member, and several threads
    // must not have one at once.
    @inlinable
    static func handle(_ storage: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<os_unfair_lock_s> {
        unsafe storage.pointer(to: \.handle).unsafelyUnwrapped
    }
}
#endif
