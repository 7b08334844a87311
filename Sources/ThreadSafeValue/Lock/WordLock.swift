//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A lock made of one atomic word, and of a place to sleep once threads compete: the default on every system but Apple's.
///
/// Taking it and giving it back is one atomic operation each while nobody else wants it. A thread that finds it held looks
/// again for a moment, then sleeps. A free lock goes to whoever comes first, also past those who are just being woken.
///
/// A thread that takes the lock twice, or unlocks it without holding it, crashes with a message that says so, in debug
/// and in release.
@safe
public final class WordLock {
    // On the heap, where the word never moves.
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
extension WordLock: @unchecked Sendable {}

extension WordLock: Lock {
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

extension WordLock {
    /// The lock itself, for whoever keeps it in memory of their own.
    ///
    /// Everything goes through a pointer, because a lock that somebody may wait for must never move.
    @safe
    @usableFromInline
    struct Storage {
        /// Zero while the lock is free, else the identity of the thread that holds it, and `waiting` or not.
        ///
        /// From zero to an identity it goes by a thread that takes the lock, and back to zero by the same one. All that
        /// others may do to it between is to add `waiting`. So a thread that finds its own identity here holds the lock,
        /// however old the look is.
        @usableFromInline
        var word: AtomicWord.Storage

        /// The address of the `WaitingRoom`, or zero. Set once, by whoever needs it first.
        @usableFromInline
        var room: AtomicWord.Storage
    }
}

extension WordLock.Storage {
    /// Added to the identity in the word: who unlocks has to wake the first that sleeps.
    private static var waiting: UInt64 { 1 }

    /// Makes a lock that nobody holds of fresh memory, at its final place.
    @inlinable
    static func initialize(_ storage: UnsafeMutablePointer<Self>) {
        unsafe storage.pointer(to: \.word).unsafelyUnwrapped.initialize(to: AtomicWord.zero)
        unsafe storage.pointer(to: \.room).unsafelyUnwrapped.initialize(to: AtomicWord.zero)
    }

    /// Ends the lock. What is left is fresh memory.
    @inlinable
    static func deinitialize(_ storage: UnsafeMutablePointer<Self>) {
        if unsafe word(storage).load() | room(storage).load() != 0 { unsafe deinitializeUsed(storage) }
    }

    @inlinable
    static func lock(_ storage: UnsafeMutablePointer<Self>) {
        let thread = currentThreadIdentity()
        if unsafe !word(storage).exchangeAcquiring(0, for: thread) { unsafe lockHeld(storage, thread) }
    }

    /// Crashes if the calling thread holds the lock, as `lock` does.
    static func failIfHeld(_ storage: UnsafeMutablePointer<Self>) {
        if unsafe word(storage).load() & ~waiting == currentThreadIdentity() { LockMistake.failLockedTwice() }
    }

    @inlinable
    static func tryLock(_ storage: UnsafeMutablePointer<Self>) -> Bool {
        unsafe word(storage).exchangeAcquiring(0, for: currentThreadIdentity())
    }

    // A subtraction would do as well and be no faster, but would damage the word of a lock that another thread holds.
    @inlinable
    static func unlock(_ storage: UnsafeMutablePointer<Self>) {
        let thread = currentThreadIdentity()
        if unsafe !word(storage).exchangeReleasing(thread, for: 0) { unsafe unlockWaitedFor(storage, thread) }
    }
}

// What is not for every call stays out of the way of what is.
extension WordLock.Storage {
    @usableFromInline
    @inline(never)
    static func lockHeld(_ storage: UnsafeMutablePointer<Self>, _ thread: UInt64) {
        unsafe failIfHeld(storage)
        let word = unsafe word(storage)
        // Most locks are held for less than it takes to fall asleep.
        var backoff = Backoff.beforeParking
        while backoff.pause() {
            if word.load() == 0, word.exchangeAcquiring(0, for: thread) { return }
        }
        let room = unsafe waitingRoom(storage)
        let parker = Parker()
        if room.enter(parker, asFirst: false, unlessTaking: word, for: thread, marking: waiting) { return }
        // A thread that comes too late keeps its place.
        repeat {
            parker.park()
        } while !room.enter(parker, asFirst: true, unlessTaking: word, for: thread, marking: waiting)
    }

    @usableFromInline
    @inline(never)
    static func unlockWaitedFor(_ storage: UnsafeMutablePointer<Self>, _ thread: UInt64) {
        let word = unsafe word(storage)
        if word.load() & ~waiting != thread { LockMistake.failNotHeld() }
        // The holder is a user of the lock, but once the lock is free another user may end it. So the room is held on to
        // before, and nothing else is touched after.
        let room = unsafe waitingRoom(storage)
        _ = word.exchange(thread | waiting, for: 0)
        room.wakeFirst()
    }

    @usableFromInline
    @inline(never)
    static func deinitializeUsed(_ storage: UnsafeMutablePointer<Self>) {
        if unsafe word(storage).load() != 0 { LockMistake.failHeldAtEnd() }
        let _: WaitingRoom = unsafe room(storage).takeObject()
    }

    /// Where threads sleep. Made when one has to for the first time.
    fileprivate static func waitingRoom(_ storage: UnsafeMutablePointer<Self>) -> WaitingRoom {
        unsafe room(storage).object { WaitingRoom() }
    }

    // Addresses, and not `&storage.pointee.word`: that would be an access to the whole member, and several threads must
    // not have one at once.

    @inlinable
    static func word(_ storage: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(storage.pointer(to: \.word).unsafelyUnwrapped)
    }

    @inlinable
    static func room(_ storage: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(storage.pointer(to: \.room).unsafelyUnwrapped)
    }
}

/// Where threads sleep that wait for one lock.
///
/// Nobody sleeps while the lock is free and nobody comes, because of this: while somebody stands in line, the word of the
/// lock has the mark, or a thread is *on its way*. That is one which made the lock free, and the mark went with it, and which
/// has yet to wake the first in line; or one that was woken and has yet to enter again. It takes the lock, with the mark if
/// there is still a line, or else it sets the mark and stands in line. Whoever takes a free lock without coming here leaves
/// no less: the mark was not on it.
private final class WaitingRoom {
    // Not of the kind that this is a part of. Held for moments.
    private let mutex = PthreadMutex()

    // Guarded by `mutex`. In the order of their coming.
    private var line = [Parker]()
}

// See `line`.
extension WaitingRoom: @unchecked Sendable {}

extension WaitingRoom {
    /// Takes the lock if it is free, or marks it as waited for and puts a thread in line.
    ///
    /// - Returns: whether it took the lock.
    func enter(
        _ parker: Parker,
        asFirst isFirst: Bool,
        unlessTaking word: AtomicWord,
        for thread: UInt64,
        marking mark: UInt64
    ) -> Bool {
        mutex.around {
            while true {
                let bits = word.load()
                if bits == 0 {
                    if word.exchangeAcquiring(0, for: line.isEmpty ? thread : thread | mark) { return true }
                } else if word.exchange(bits, for: bits | mark) {
                    line.insert(parker, at: isFirst ? 0 : line.count)
                    return false
                }
            }
        }
    }

    /// Wakes the thread that came first. There may be none: others, who unlocked before, may have woken all.
    func wakeFirst() {
        let first: Parker? = mutex.around { line.isEmpty ? nil : line.removeFirst() }
        first?.wake()
    }

    /// How many stand in line.
    var count: Int {
        mutex.around { line.count }
    }
}

// For tests.
extension WordLock {
    /// How many threads sleep until somebody unlocks.
    package var sleepingThreadCount: Int {
        unsafe Storage.waitingRoom(storage).count
    }
}
