//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The lock of a protected value, and beside it the word that tells whether a change has to be told.
///
/// Every access that may change the value looks at that word, which is in the cache then anyway. It is zero unless a
/// thread or task waits for a change, so accesses pay nothing while none does; reads don't look at all.
@safe
@usableFromInline
struct ProtectedLock {
    // The words stand first, so that all is found without key paths: in a debug build each of those takes hundreds of
    // instructions.

    /// A set of `AwaitedChange` bits. Changed atomically by any thread, read by the one that holds the lock.
    @usableFromInline
    var awaited: AtomicWord.Storage

    /// The address of the `WaiterTable`, or zero. Set once, by the first that needs it.
    @usableFromInline
    var table: AtomicWord.Storage

    /// The lock of the value.
    @usableFromInline
    var lock: PlatformLock.Storage
}

/// Which kinds of waiters a protected value has.
@usableFromInline
enum AwaitedChange {
    /// A wait for a value that meets a condition.
    @inlinable
    static var toMeetCondition: UInt64 { 1 }
    /// A listener to every change.
    @inlinable
    static var any: UInt64 { 2 }
}

extension ProtectedLock {
    /// Makes a lock that nobody holds of fresh memory, at its final place.
    @inlinable
    static func initialize(_ storage: UnsafeMutablePointer<Self>) {
        assert(MemoryLayout<PlatformLock.Storage>.alignment <= MemoryLayout<AtomicWord.Storage>.alignment)
        unsafe awaited(storage).storage.initialize(to: AtomicWord.zero)
        unsafe table(storage).storage.initialize(to: AtomicWord.zero)
        unsafe PlatformLock.Storage.initialize(lock(storage))
    }

    @inlinable
    @_transparent
    static func tryLock(_ storage: UnsafeMutablePointer<Self>) -> Bool {
        unsafe PlatformLock.Storage.tryLock(lock(storage))
    }

    @inlinable
    @_transparent
    static func unlock(_ storage: UnsafeMutablePointer<Self>) {
        unsafe PlatformLock.Storage.unlock(lock(storage))
    }

    /// Whether a thread or task waits for a change; only with the lock.
    @inlinable
    @_transparent
    static func hasWaiters(_ storage: UnsafeMutablePointer<Self>) -> Bool {
        unsafe awaited(storage).load() != 0
    }

    // Addresses, as in the lock itself: several threads must not access one member at once.

    @inlinable
    @_transparent
    static func lock(_ storage: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<PlatformLock.Storage> {
        unsafe UnsafeMutableRawPointer(words(storage) + 2).assumingMemoryBound(to: PlatformLock.Storage.self)
    }

    @inlinable
    @_transparent
    static func awaited(_ storage: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(words(storage))
    }

    @inlinable
    static func table(_ storage: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(words(storage) + 1)
    }

    @inlinable
    @_transparent
    static func words(_ storage: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<AtomicWord.Storage> {
        unsafe UnsafeMutableRawPointer(storage).assumingMemoryBound(to: AtomicWord.Storage.self)
    }
}

extension AtomicWord {
    /// Sets or clears bits. Whatever happens after a bit was set, on whatever thread, sees it.
    func set(_ bits: UInt64, to isSet: Bool) {
        while true {
            let old = load()
            if exchange(old, for: isSet ? old | bits : old & ~bits) { return }
        }
    }
}
