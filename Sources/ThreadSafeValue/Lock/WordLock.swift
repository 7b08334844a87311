//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A lock made of one atomic word, and of a queue to sleep in once threads compete: the default on every system but
/// Apple's.
///
/// Taking it and giving it back is one atomic operation each while no other thread wants it. A thread that finds it
/// held looks again for a moment, then sleeps.
///
/// *Eventual fairness*: a free lock goes to whoever comes first, also past those who are just being woken. But each
/// quarter of a millisecond an `unlock()` hands the lock to the thread that fell asleep first.
///
/// A thread that takes the lock twice, or unlocks it without holding it, crashes with a message that says so, in debug
/// and in release. So does one that would close a circle of threads, each of which waits for a lock that the next one
/// holds.
public final class WordLock {
    @usableFromInline
    let cell = LockCell<Storage>()

    /// Creates a lock that nobody holds.
    @inlinable
    public init() {}
}

extension WordLock: Lock {
    /// Takes the lock, waiting until the thread that holds it unlocks it.
    ///
    /// - Warning: Crashes if the calling thread holds the lock already.
    @inlinable
    @available(*, noasync, message: "A task may go on with another thread after an `await`. Use `around`.")
    public func lock() {
        unsafe schedulingPoint("lock of", self, cell.storage)
        unsafe Storage.lock(cell.storage, for: WordLock.self)
    }

    /// Takes the lock if nobody holds it, and never waits.
    ///
    /// - Returns: Whether the calling thread has the lock now; `false` also if it held it before.
    @inlinable
    @available(*, noasync, message: "A task may go on with another thread after an `await`. Use `around`.")
    public func tryLock() -> Bool {
        unsafe schedulingPoint("try of", self, cell.storage, waits: false)
        return unsafe Storage.tryLock(cell.storage)
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

extension WordLock {
    /// The lock itself, for whoever keeps it in memory of their own.
    @safe
    @usableFromInline
    struct Storage: LockStorage {
        /// Zero while the lock is free, else the identity of the thread that holds it, and `waiting` or not.
        ///
        /// Invariant (ownership): from zero to an identity the word goes by the thread of that identity, from an
        /// identity to zero or to the identity of a sleeping thread by the thread of the first. All that others do is
        /// to add `waiting`. So a thread that finds its own identity here holds the lock, however old the look is.
        @usableFromInline
        var word: AtomicWord.Storage

        /// The address of the `SleeperQueue`, or zero. Set once, by the first thread that has to sleep.
        @usableFromInline
        var queue: AtomicWord.Storage
    }
}

extension WordLock.Storage {
    @inlinable
    static func initialize(_ storage: UnsafeMutablePointer<Self>) {
        unsafe word(storage).storage.initialize(to: AtomicWord.zero)
        unsafe queue(storage).storage.initialize(to: AtomicWord.zero)
    }

    @inlinable
    static func deinitialize(_ storage: UnsafeMutablePointer<Self>) {
        if unsafe word(storage).load() | queue(storage).load() != 0 { unsafe deinitializeUsed(storage) }
    }

    @inlinable
    static func lock(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type) {
        if unsafe !tryLock(storage) { unsafe lockSlowly(storage, for: user, until: .never) }
    }

    @inlinable
    static func lock(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type, until deadline: Deadline) -> Bool {
        if unsafe tryLock(storage) { return true }
        return unsafe lockSlowly(storage, for: user, until: deadline)
    }

    // The holder goes on in a moment, if it may run. The wait ends by itself, so that it is in no circle.
    @usableFromInline
    static func lockForMoment(_ storage: UnsafeMutablePointer<Self>) {
        for count in 1...8_192 {
            if unsafe word(storage).load() == 0, unsafe tryLock(storage) { return }
            if count & 127 == 0 { yieldProcessor() } else { pauseSpinning() }
        }
        unsafe lockSlowly(storage, for: WordLock.self, until: .someDay)
    }

    @usableFromInline
    static func failIfHeld(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type) {
        let word = unsafe word(storage)
        if word.load() & ~SleeperQueue.waiting != currentThreadIdentity() { return }
        LockMistake.failLockedTwice(WaitGraph.Resource(isTurn: false, word: word, user: user).name)
    }

    @inlinable @_transparent
    static func tryLock(_ storage: UnsafeMutablePointer<Self>) -> Bool {
        unsafe word(storage).exchangeAcquiring(0, for: currentThreadIdentity())
    }

    // A subtraction would do as well and be no faster, but would damage the word of a lock that another thread holds.
    @inlinable @_transparent
    static func unlock(_ storage: UnsafeMutablePointer<Self>) {
        let thread = currentThreadIdentity()
        if unsafe !word(storage).exchangeReleasing(thread, for: 0) { unsafe unlockSlowly(storage, thread) }
    }
}

// Slow paths, kept out of line so that the fast paths inline.
extension WordLock.Storage {
    /// Takes a lock that is held.
    ///
    /// - Returns: Whether the calling thread has the lock; `false` only after the deadline.
    @usableFromInline @inline(never) @discardableResult
    static func lockSlowly(
        _ storage: UnsafeMutablePointer<Self>,
        for user: Any.Type,
        until deadline: Deadline
    ) -> Bool {
        if deadline == .passed { return false }
        let (word, thread) = unsafe (word(storage), currentThreadIdentity())
        unsafe failIfHeld(storage, for: user)
        // Most locks are held for less than it takes to fall asleep.
        var backoff = Backoff.beforeParking
        while backoff.pause() {
            if word.load() == 0, word.exchangeAcquiring(0, for: thread) { return true }
        }
        return unsafe sleeperQueue(storage).lock(word, Sleeper(thread), for: user, until: deadline)
    }

    @usableFromInline @inline(never)
    static func unlockSlowly(_ storage: UnsafeMutablePointer<Self>, _ thread: UInt64) {
        let word = unsafe word(storage)
        if word.load() & ~SleeperQueue.waiting != thread { LockMistake.failNotHeld() }
        // The holder is a user of the lock, but once the lock is free another user may end it. So the queue is held on
        // to before, and nothing else is touched after.
        let queue = unsafe sleeperQueue(storage)
        queue.unlock(word, thread)
    }

    @usableFromInline @inline(never)
    static func deinitializeUsed(_ storage: UnsafeMutablePointer<Self>) {
        if unsafe word(storage).load() != 0 { LockMistake.failHeldAtEnd() }
        let _: SleeperQueue? = unsafe queue(storage).takeObject()
    }

    fileprivate static func sleeperQueue(_ storage: UnsafeMutablePointer<Self>) -> SleeperQueue {
        unsafe queue(storage).object { SleeperQueue() }
    }

    // Addresses, and not `&storage.pointee.word`: that would be an access to the whole member, and several threads
    // must not have one at once. Without key paths, each of which takes hundreds of instructions in a debug build.

    @inlinable @_transparent
    static func word(_ storage: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(UnsafeMutableRawPointer(storage).assumingMemoryBound(to: AtomicWord.Storage.self))
    }

    @inlinable
    static func queue(_ storage: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(word(storage).storage + 1)
    }
}

// For tests.
extension WordLock {
    /// How many threads sleep until the lock is unlocked.
    package var sleepingThreadCount: Int {
        unsafe Storage.sleeperQueue(cell.storage).count
    }

    /// Lets threads sleep for longer than a quarter of a millisecond before one is owed the lock.
    package func setHandoffDelay(_ delay: UInt64) {
        unsafe Storage.sleeperQueue(cell.storage).setHandoffDelay(delay)
    }

    /// Takes the lock if that is possible in time.
    package func lock(until deadline: UInt64) -> Bool {
        unsafe Storage.lock(cell.storage, for: WordLock.self, until: Deadline(time: deadline))
    }
}
