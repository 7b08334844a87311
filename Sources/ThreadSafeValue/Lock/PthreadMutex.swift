//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// These imports are public, because inlinable code calls into the modules.
public import CAtomicWord

#if canImport(Darwin)
public import Darwin
#elseif canImport(Glibc)
public import Glibc
#elseif canImport(Musl)
public import Musl
#elseif canImport(Android)
public import Android
#else
#error("PthreadMutex needs a C library with POSIX threads")
#endif

/// A lock made of a `pthread_mutex_t`, for every POSIX system.
///
/// A thread crashes with a message, in debug and in release, if it takes the lock twice or unlocks a lock that it does not
/// hold. The operating system chooses which of several waiting threads is next. Threads that take several such locks in
/// different orders may wait for each other for ever.
public final class PthreadMutex {
    @usableFromInline let cell = LockCell<Storage>()

    /// Creates a lock that no thread holds.
    @inlinable public init() {}
}

extension PthreadMutex: Lock {
    /// Takes the lock; the calling thread waits while another thread holds it.
    ///
    /// - Warning: The program crashes if the calling thread already holds the lock.
    @inlinable @available(*, noasync, message: "A task may continue on another thread after an `await`. Use `around`.")
    public func lock() { unsafe Storage.lock(cell.storage, for: PthreadMutex.self) }

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

extension PthreadMutex {
    /// The state of the lock, for types that keep it in their own memory.
    @safe @usableFromInline struct Storage: LockStorage {
        @usableFromInline var mutex: pthread_mutex_t

        // The identity of the thread that holds the mutex, or zero. Only the holder writes its identity, so a thread that
        // reads its own identity here holds the mutex, whatever other threads do meanwhile. So relaxed accesses are enough.
        // This costs less than `PTHREAD_MUTEX_ERRORCHECK`.
        @usableFromInline var owner: AtomicWord.Storage
    }
}

extension PthreadMutex.Storage {
    @usableFromInline static func initialize(_ storage: UnsafeMutablePointer<Self>) {
        unsafe storage.pointer(to: \.owner).unsafelyUnwrapped.initialize(to: AtomicWord.zero)
        unsafe mutex(storage).initialize(to: pthread_mutex_t())
        // The mutex is of the normal kind. With glibc, the adaptive kind was no faster, and slower when two threads compete.
        unsafe check(pthread_mutex_init(mutex(storage), nil), "pthread_mutex_init")
    }

    @usableFromInline static func deinitialize(_ storage: UnsafeMutablePointer<Self>) {
        // Not every C library reports a mutex that is destroyed while a thread holds it.
        if unsafe owner(storage).load() != 0 { LockMistake.failHeldAtEnd() }  // fault: mutex: held at its end
        unsafe check(pthread_mutex_destroy(mutex(storage)), "pthread_mutex_destroy")
    }

    @inlinable static func lock(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type) {
        let thread = currentThreadIdentity()
        if unsafe owner(storage).load() == thread { LockMistake.failLockedTwice() }  // fault: mutex: locked twice
        unsafe check(pthread_mutex_lock(mutex(storage)), "pthread_mutex_lock")
        unsafe owner(storage).store(thread)
    }

    @usableFromInline
    static func lock(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type, until deadline: Deadline) -> Bool {
        if unsafe tryLock(storage) { return true }
        let isHeldHere = unsafe owner(storage).load() == currentThreadIdentity()
        if isHeldHere, deadline != .passed { LockMistake.failLockedTwice() }
        return false
    }

    @inlinable static func tryLock(_ storage: UnsafeMutablePointer<Self>) -> Bool {
        let code = unsafe pthread_mutex_trylock(mutex(storage))
        if code == EBUSY { return false }
        check(code, "pthread_mutex_trylock")
        unsafe owner(storage).store(currentThreadIdentity())
        return true
    }

    @inlinable static func unlock(_ storage: UnsafeMutablePointer<Self>) {
        // fault: mutex: not held
        if unsafe owner(storage).load() != currentThreadIdentity() { LockMistake.failNotHeld() }
        unsafe owner(storage).store(0)
        unsafe check(pthread_mutex_unlock(mutex(storage)), "pthread_mutex_unlock")
    }

    // `&storage.pointee.mutex` would be an access to the whole member, which several threads must not have at once, so
    // these are addresses.

    @inlinable static func mutex(_ storage: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<pthread_mutex_t> {
        unsafe storage.pointer(to: \.mutex).unsafelyUnwrapped
    }

    @inlinable static func owner(_ storage: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(storage.pointer(to: \.owner).unsafelyUnwrapped)
    }

    @inlinable static func check(_ code: CInt, _ call: StaticString) {
        if code != 0 { fail(call, code) }
    }

    // Not inlined, as each access of a client would have the message.
    @usableFromInline @inline(never) static func fail(_ call: StaticString, _ code: CInt) -> Never {
        fatalError("\(call) failed with code \(code).")
    }
}
