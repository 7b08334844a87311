//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if canImport(Darwin)
// The import is public, because inlinable code calls into the module.
public import Darwin

/// A lock made of an `os_unfair_lock`: the default on Apple systems.
///
/// A waiting thread lends its priority to the thread that holds the lock. If a thread takes the lock twice, or unlocks a
/// lock that it does not hold, the operating system ends the program and says why. Threads that take several such locks in
/// different orders may wait for each other for ever.
public final class UnfairLock {
    @usableFromInline let cell = LockCell<Storage>()

    /// Creates a lock that no thread holds.
    @inlinable public init() {}
}

extension UnfairLock: Lock {
    /// Takes the lock; the calling thread waits while another thread holds it.
    ///
    /// - Warning: The program crashes if the calling thread already holds the lock.
    @inlinable @available(*, noasync, message: "A task may continue on another thread after an `await`. Use `around`.")
    public func lock() { unsafe Storage.lock(cell.storage, for: UnfairLock.self) }

    /// Takes the lock if no thread holds it, and never waits.
    ///
    /// - Returns: `true` if the calling thread has taken the lock; `false` if any thread held it, even the calling one.
    @inlinable @available(*, noasync, message: "A task may continue on another thread after an `await`. Use `around`.")
    public func tryLock() -> Bool { unsafe Storage.tryLock(cell.storage) }

    /// Gives the lock back.
    ///
    /// - Warning: The program crashes if the calling thread does not hold the lock.
    @inlinable @available(*, noasync, message: "A task may continue on another thread after an `await`. Use `around`.")
    public func unlock() {
        // The memory of the lock stays until the lock is free.
        withExtendedLifetime(self) { unsafe Storage.unlock(cell.storage) }
    }
}

extension UnfairLock {
    /// The state of the lock, for types that keep it in their own memory.
    @safe @usableFromInline struct Storage: LockStorage {
        @usableFromInline var handle: os_unfair_lock_s
    }
}

extension UnfairLock.Storage {
    @inlinable static func initialize(_ storage: UnsafeMutablePointer<Self>) {
        unsafe handle(storage).initialize(to: os_unfair_lock_s())
    }

    @inlinable static func deinitialize(_ storage: UnsafeMutablePointer<Self>) {}

    @inlinable static func lock(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type) {
        unsafe os_unfair_lock_lock(handle(storage))
    }

    @usableFromInline
    static func lock(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type, until deadline: Deadline) -> Bool {
        if unsafe tryLock(storage) { return true }
        if deadline != .passed { unsafe os_unfair_lock_assert_not_owner(handle(storage)) }
        return false
    }

    @inlinable static func tryLock(_ storage: UnsafeMutablePointer<Self>) -> Bool {
        unsafe os_unfair_lock_trylock(handle(storage))
    }

    @inlinable
    static func unlock(_ storage: UnsafeMutablePointer<Self>) { unsafe os_unfair_lock_unlock(handle(storage)) }

    // `&storage.pointee.handle` would be an access to the whole member, which several threads must not have at once, so
    // this is an address.
    @inlinable static func handle(_ storage: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<os_unfair_lock_s> {
        unsafe storage.pointer(to: \.handle).unsafelyUnwrapped
    }
}
#endif
