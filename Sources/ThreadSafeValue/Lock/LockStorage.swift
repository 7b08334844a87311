//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What a lock is made of, in memory that somebody else owns.
///
/// Everything goes through a pointer, because a lock that a thread may wait for must never move.
@usableFromInline
protocol LockStorage {
    /// Whether threads that wait with a time-out have a line, from which `unlock` wakes them.
    static var hasLine: Bool { get }

    /// Makes a lock that nobody holds of fresh memory, at its final place.
    static func initialize(_ storage: UnsafeMutablePointer<Self>)

    /// Ends the lock. What is left is fresh memory.
    static func deinitialize(_ storage: UnsafeMutablePointer<Self>)

    /// Takes the lock on behalf of a type, which a message may name. Crashes if the calling thread holds it already.
    static func lock(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type)

    /// Takes the lock on behalf of a type if that is possible in time. Crashes if the calling thread holds it already.
    /// Without a line it only tries, and the caller waits in a `TimedLine`.
    static func lock(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type, until deadline: Deadline) -> Bool

    /// Takes a lock that is held for moments only, so that no wait for it is part of a circle.
    static func lockForMoment(_ storage: UnsafeMutablePointer<Self>)

    /// Takes the lock if nobody holds it.
    static func tryLock(_ storage: UnsafeMutablePointer<Self>) -> Bool

    /// Crashes if the calling thread holds the lock, as `lock` does.
    static func failIfHeld(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type)

    /// Gives the lock back. Crashes if the calling thread doesn't hold it.
    static func unlock(_ storage: UnsafeMutablePointer<Self>)
}

/// A lock in memory of its own, where it never moves: what the public locks are made of.
@safe
@usableFromInline
struct LockCell<Storage: LockStorage>: ~Copyable {
    @usableFromInline
    let storage: UnsafeMutablePointer<Storage>

    @inlinable
    init() {
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
extension LockCell: @unchecked Sendable {}

// For locks of the system, which hide who holds them and who waits.
extension LockStorage {
    @inlinable
    static var hasLine: Bool { false }

    @usableFromInline
    static func lockForMoment(_ storage: UnsafeMutablePointer<Self>) {
        unsafe lock(storage, for: Self.self)
    }

    @usableFromInline
    static func lock(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type, until deadline: Deadline) -> Bool {
        if unsafe tryLock(storage) { return true }
        if deadline != .passed { unsafe failIfHeld(storage, for: user) }
        return false
    }
}
