//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The lock of a protected value, and beside it the word that tells whether anybody attends to the value.
///
/// Every unlocking looks at that word, which is in the cache then anyway. It is zero unless a thread or task waits for
/// something, so nobody pays for them while there are none.
@safe
@usableFromInline
struct AttendedLock {
    @usableFromInline
    var lock: PlatformLock.Storage

    /// A set of `Attention` bits. Anybody may change them, atomically; who holds the lock reads them.
    @usableFromInline
    var attention: AtomicWord.Storage

    /// The address of the `Attendants`, or zero. Set once, by whoever needs them first.
    @usableFromInline
    var attendants: AtomicWord.Storage
}

/// What somebody may wait for.
enum Attention {
    /// For the lock, but no longer than up to a moment.
    static let toLock: UInt64 = 1
    /// For a value that meets a condition.
    static let toConditions: UInt64 = 2
    /// For any change.
    static let toChanges: UInt64 = 4
}

extension AttendedLock {
    /// Makes a lock that nobody holds of fresh memory, at its final place.
    @inlinable
    static func initialize(_ storage: UnsafeMutablePointer<Self>) {
        unsafe PlatformLock.Storage.initialize(lock(storage))
        unsafe storage.pointer(to: \.attention).unsafelyUnwrapped.initialize(to: AtomicWord.zero)
        unsafe storage.pointer(to: \.attendants).unsafelyUnwrapped.initialize(to: AtomicWord.zero)
    }

    // Addresses, as in the lock itself: several threads must not access one member at once.

    @inlinable
    static func lock(_ storage: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<PlatformLock.Storage> {
        unsafe storage.pointer(to: \.lock).unsafelyUnwrapped
    }

    @inlinable
    static func attention(_ storage: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(storage.pointer(to: \.attention).unsafelyUnwrapped)
    }

    @inlinable
    static func attendants(_ storage: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(storage.pointer(to: \.attendants).unsafelyUnwrapped)
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
