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
    @usableFromInline
    var lock: PlatformLock.Storage

    /// A set of `AwaitedChange` bits. Changed atomically by any thread, read by the one that holds the lock.
    @usableFromInline
    var awaited: AtomicWord.Storage

    /// The address of the `WaiterTable`, or zero. Set once, by the first that needs it.
    @usableFromInline
    var table: AtomicWord.Storage
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
        unsafe PlatformLock.Storage.initialize(lock(storage))
        unsafe storage.pointer(to: \.awaited).unsafelyUnwrapped.initialize(to: AtomicWord.zero)
        unsafe storage.pointer(to: \.table).unsafelyUnwrapped.initialize(to: AtomicWord.zero)
    }

    // Addresses, as in the lock itself: several threads must not access one member at once.

    @inlinable
    static func lock(_ storage: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<PlatformLock.Storage> {
        unsafe storage.pointer(to: \.lock).unsafelyUnwrapped
    }

    @inlinable
    static func awaited(_ storage: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(storage.pointer(to: \.awaited).unsafelyUnwrapped)
    }

    @inlinable
    static func table(_ storage: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(storage.pointer(to: \.table).unsafelyUnwrapped)
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
