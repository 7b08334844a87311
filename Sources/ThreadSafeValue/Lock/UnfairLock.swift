//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if canImport(Darwin)
// Public, because inlinable code calls into it.
public import Darwin

/// A lock made of an `os_unfair_lock`: the default on Apple systems.
///
/// A waiting thread lends its priority to the one that holds the lock. The system crashes a thread that takes the lock
/// twice, or unlocks one that it doesn't hold, and says so.
@safe
public final class UnfairLock {
    // On the heap, where the lock never moves.
    @usableFromInline
    let storage: UnsafeMutablePointer<Storage>

    /// Creates a lock that nobody holds.
    @inlinable
    public init() {
        unsafe storage = .allocate(capacity: 1)
        unsafe Storage.initialize(storage)
    }

    @inlinable
    deinit {
        unsafe Storage.deinitialize(storage)
        unsafe storage.deallocate()
    }
}

// The pointer never changes, and the lock it points to is made to be shared.
extension UnfairLock: @unchecked Sendable {}

extension UnfairLock: Lock {
    /// Takes the lock, waiting until the thread that holds it unlocks it.
    ///
    /// - Warning: Crashes if the calling thread holds the lock already.
    @inlinable
    public func lock() {
        unsafe Storage.lock(storage)
    }

    /// Takes the lock if nobody holds it, and never waits.
    ///
    /// - Returns: Whether the calling thread has the lock now; `false` also if it held it before.
    @inlinable
    public func tryLock() -> Bool {
        unsafe Storage.tryLock(storage)
    }

    /// Gives the lock back.
    ///
    /// - Warning: Crashes if the calling thread doesn't hold the lock.
    @inlinable
    public func unlock() {
        // The address alone does not keep its memory until the lock is free.
        withExtendedLifetime(self) { unsafe Storage.unlock(storage) }
    }
}

extension UnfairLock {
    /// The lock itself, for whoever keeps it in memory of their own.
    ///
    /// Everything goes through a pointer, because a lock that somebody may wait for must never move.
    @usableFromInline
    struct Storage {
        @usableFromInline
        var handle: os_unfair_lock_s
    }
}

extension UnfairLock.Storage {
    /// Makes a lock that nobody holds of fresh memory, at its final place.
    @inlinable
    static func initialize(_ storage: UnsafeMutablePointer<Self>) {
        unsafe handle(storage).initialize(to: os_unfair_lock_s())
    }

    /// Ends the lock. What is left is fresh memory.
    @inlinable
    static func deinitialize(_ storage: UnsafeMutablePointer<Self>) {}

    @inlinable
    static func lock(_ storage: UnsafeMutablePointer<Self>) {
        unsafe os_unfair_lock_lock(handle(storage))
    }

    /// Crashes if the calling thread holds the lock, as `lock` does.
    static func failIfHeld(_ storage: UnsafeMutablePointer<Self>) {
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
