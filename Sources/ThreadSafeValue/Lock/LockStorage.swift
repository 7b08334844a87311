//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The state of a lock, in memory that somebody else owns.
///
/// All methods take a pointer, because a lock must never move while a thread may wait for it.
@usableFromInline protocol LockStorage {
    /// Whether threads that wait with a time-out have a line, from which `unlock` wakes them.
    static var hasLine: Bool { get }

    /// Makes fresh memory a lock that no thread holds. The memory never moves after that.
    static func initialize(_ storage: UnsafeMutablePointer<Self>)

    /// Ends the lock, and leaves fresh memory.
    static func deinitialize(_ storage: UnsafeMutablePointer<Self>)

    /// Takes the lock on behalf of a type, which a message may name. Crashes if the calling thread already holds the lock.
    static func lock(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type)

    /// Takes the lock on behalf of a type, if it is to be had in time. Crashes if the calling thread already holds the lock.
    /// A lock without a line only tries, and the caller waits in a `TimedLine`.
    static func lock(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type, until deadline: Deadline) -> Bool

    /// Takes a lock that threads hold for moments only, so no wait for the lock is part of a circle.
    static func lockForMoment(_ storage: UnsafeMutablePointer<Self>)

    /// Takes the lock if no thread holds it.
    static func tryLock(_ storage: UnsafeMutablePointer<Self>) -> Bool

    /// Gives the lock back. Crashes if the calling thread does not hold the lock.
    static func unlock(_ storage: UnsafeMutablePointer<Self>)
}

/// A lock in memory of its own, where it never moves. The public locks are made of such cells.
@safe @usableFromInline struct LockCell<Storage: LockStorage>: ~Copyable {
    @usableFromInline let storage: UnsafeMutablePointer<Storage>

    @inlinable init() {
        unsafe storage = .allocate(capacity: 1)
        unsafe Storage.initialize(storage)
    }

    @inlinable deinit {
        unsafe Storage.deinitialize(storage)
        unsafe storage.deallocate()
    }
}

// The pointer never changes, and threads may share the lock that it points to.
extension LockCell: @unchecked Sendable {}

// These are the methods for locks of the system, which hide their holder and their waiters.
extension LockStorage {
    @inlinable static var hasLine: Bool { false }

    @usableFromInline
    static func lockForMoment(_ storage: UnsafeMutablePointer<Self>) { unsafe lock(storage, for: Self.self) }
}
