//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A lock made of one atomic word, and of a queue where threads sleep when they compete. It is the default lock on all
/// systems but Apple's.
///
/// While no other thread wants the lock, locking and unlocking take one atomic operation each. A thread that finds the
/// lock held looks again for a moment, and then sleeps.
///
/// *Eventual fairness*: the first thread that comes takes a free lock, even past sleeping threads that are being woken.
/// But once in a quarter of a millisecond, `unlock()` hands the lock to the thread that fell asleep first.
///
/// A thread crashes with a message, in debug and in release, if it takes the lock twice or unlocks a lock that it does not
/// hold. It also crashes if its wait would close a circle of threads, each of which waits for a lock that the next one
/// holds.
public final class WordLock {
    @usableFromInline let cell = LockCell<Storage>()

    /// Creates a lock that no thread holds.
    @inlinable public init() {}
}

extension WordLock: Lock {
    /// Takes the lock; the calling thread waits while another thread holds it.
    ///
    /// - Warning: The program crashes if the calling thread already holds the lock.
    @inlinable @available(*, noasync, message: "A task may continue on another thread after an `await`. Use `around`.")
    public func lock() {
        unsafe schedulingPoint("lock of", self, cell.storage)
        unsafe Storage.lock(cell.storage, for: WordLock.self)
    }

    /// Takes the lock if no thread holds it, and never waits.
    ///
    /// - Returns: `true` if the calling thread has taken the lock; `false` if any thread held it, even the calling one.
    @inlinable @available(*, noasync, message: "A task may continue on another thread after an `await`. Use `around`.")
    public func tryLock() -> Bool {
        unsafe schedulingPoint("try of", self, cell.storage, waits: false)
        return unsafe Storage.tryLock(cell.storage)
    }

    /// Gives the lock back.
    ///
    /// - Warning: The program crashes if the calling thread does not hold the lock.
    @inlinable @available(*, noasync, message: "A task may continue on another thread after an `await`. Use `around`.")
    public func unlock() {
        // The memory of the lock stays until the lock is free.
        withExtendedLifetime(self) { unsafe Storage.unlock(cell.storage) }
    }
}

extension WordLock {
    /// The state of the lock, for types that keep it in their own memory.
    @safe @usableFromInline struct Storage: LockStorage {
        /// Zero while the lock is free. Otherwise the identity of the holder, perhaps with the `waiting` bit.
        ///
        /// Invariant (ownership): only the thread itself changes the word from zero to its identity. Only the holder
        /// changes the word from its identity to zero, or to the identity of a sleeping thread. Other threads only add
        /// `waiting`. So a thread that reads its own identity here holds the lock, however old the value is.
        @usableFromInline var word: AtomicWord.Storage

        /// The address of the `SleeperQueue`, or zero. Set once, by the first thread that has to sleep.
        @usableFromInline var queue: AtomicWord.Storage
    }

    // MARK: For tests

    /// Looks at the line of the threads that sleep, or changes it.
    package func withLine<Answer>(_ body: (inout SleeperLine) -> Answer) -> Answer {
        unsafe Storage.sleeperQueue(cell.storage).withLine(body)
    }

    /// Takes the lock if that is possible before a time of `now()`.
    package func lock(until deadline: UInt64) -> Bool {
        unsafe Storage.lock(cell.storage, for: WordLock.self, until: Deadline(time: deadline))
    }
}

extension WordLock.Storage {
    @inlinable static var hasLine: Bool { true }

    @inlinable static func initialize(_ storage: UnsafeMutablePointer<Self>) {
        unsafe word(storage).storage.initialize(to: AtomicWord.zero)
        unsafe queue(storage).storage.initialize(to: AtomicWord.zero)
    }

    @inlinable static func deinitialize(_ storage: UnsafeMutablePointer<Self>) {
        if unsafe word(storage).load() | queue(storage).load() != 0 { unsafe deinitializeUsed(storage) }
    }

    @inlinable static func lock(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type) {
        if unsafe !tryLock(storage) { unsafe lockSlowly(storage, for: user, until: .never) }
    }

    @inlinable
    static func lock(_ storage: UnsafeMutablePointer<Self>, for user: Any.Type, until deadline: Deadline) -> Bool {
        if unsafe tryLock(storage) { return true }
        return unsafe lockSlowly(storage, for: user, until: deadline)
    }

    // The holder goes on in a moment, if it runs. The last wait has an end, so it never stands in the graph of waits.
    @usableFromInline static func lockForMoment(_ storage: UnsafeMutablePointer<Self>) {
        for count in 1...8_192 {
            if unsafe word(storage).load() == 0, unsafe tryLock(storage) { return }
            if count & 127 == 0 { yieldProcessor() } else { pauseSpinning() }
        }
        unsafe lockSlowly(storage, for: WordLock.self, until: .someDay)
    }

    @inlinable @_transparent static func tryLock(_ storage: UnsafeMutablePointer<Self>) -> Bool {
        unsafe word(storage).exchangeAcquiring(0, for: currentThreadIdentity())
    }

    // A subtraction would not be faster, and would damage the word of a lock that another thread holds.
    @inlinable @_transparent static func unlock(_ storage: UnsafeMutablePointer<Self>) {
        let thread = currentThreadIdentity()
        if unsafe !word(storage).exchangeReleasing(thread, for: 0) { unsafe unlockSlowly(storage, thread) }
    }

    // MARK: Slow paths

    // They are not inlined, so that the fast paths are.

    /// Takes a lock that is held.
    ///
    /// - Returns: `true` if the calling thread has the lock; `false` only after the deadline.
    @usableFromInline @inline(never) @discardableResult static func lockSlowly(
        _ storage: UnsafeMutablePointer<Self>,
        for user: Any.Type,
        until deadline: Deadline
    ) -> Bool {
        if deadline == .passed { return false }
        let (word, thread) = unsafe (word(storage), currentThreadIdentity())
        if word.load() & ~SleeperQueue.waiting == thread {  // fault: word lock: locked twice
            LockMistake.failLockedTwice(WaitGraph.Resource(isTurn: false, word: word, user: user).name)
        }
        // Most locks are held for less than it takes to fall asleep.
        var backoff = Backoff.beforeParking
        while backoff.pause() {
            if word.load() == 0, word.exchangeAcquiring(0, for: thread) { return true }
        }
        return unsafe sleeperQueue(storage).lock(word, Sleeper(thread), for: user, until: deadline)
    }

    @usableFromInline @inline(never) static func unlockSlowly(_ storage: UnsafeMutablePointer<Self>, _ thread: UInt64) {
        let word = unsafe word(storage)
        if word.load() & ~SleeperQueue.waiting != thread { LockMistake.failNotHeld() }  // fault: word lock: not held
        // Once the lock is free, another thread may end it. So the queue is kept from here on, and nothing else is touched
        // after the unlock.
        let queue = unsafe sleeperQueue(storage)
        queue.unlock(word, thread)
    }

    @usableFromInline @inline(never) static func deinitializeUsed(_ storage: UnsafeMutablePointer<Self>) {
        if unsafe word(storage).load() != 0 { LockMistake.failHeldAtEnd() }  // fault: word lock: held at its end
        let _: SleeperQueue? = unsafe queue(storage).takeObject()
    }

    fileprivate static func sleeperQueue(_ storage: UnsafeMutablePointer<Self>) -> SleeperQueue {
        unsafe queue(storage).object { SleeperQueue() }
    }

    // `&storage.pointee.word` would be an access to the whole member, which several threads must not have at once, so
    // these are addresses. A key path would take hundreds of instructions in a debug build.

    @inlinable @_transparent static func word(_ storage: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(UnsafeMutableRawPointer(storage).assumingMemoryBound(to: AtomicWord.Storage.self))
    }

    @inlinable static func queue(_ storage: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(word(storage).storage + 1)
    }
}
