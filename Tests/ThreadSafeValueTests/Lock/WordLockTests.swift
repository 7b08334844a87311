//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

/// How a lock made of one word puts threads to sleep, and wakes them.
@Suite("WordLock")
struct WordLockTests {
    @Test("A thread that sleeps has the lock soon after it is free")
    func wakes() throws {
        try inTime {
            for _ in 0..<50 {
                let lock = WordLock()
                let sleeper = try sleepers(1, at: lock)
                lock.unlock()
                sleeper[0].join()
            }
        }
    }

    @Test("Of many that sleep, each has the lock once, though it was unlocked once from outside")
    func wakesOneByOne() throws {
        try inTime {
            for _ in 0..<50 {
                let lock = WordLock()
                let counter = Unguarded(0)
                let sleepers = try sleepers(5, at: lock) { counter.value += 1 }
                lock.unlock()
                for sleeper in sleepers { sleeper.join() }
                #expect(lock.around { counter.value } == 5)
            }
        }
    }

    @Test("A sleeper that gets the lock wakes the next one when it unlocks")
    func wakesNext() throws {
        try inTime {
            let (lock, isIn, mayUnlock, sleeping) = (WordLock(), Door(), Door(), Log<Int>())
            lock.lock()
            let sleepers = (0..<2).map { _ in
                RunningThread {
                    lock.around {
                        isIn.open()
                        mayUnlock.waitUntilOpen()
                    }
                    // The unlock takes the next one out of the line before it wakes it.
                    sleeping.add(lock.sleepingThreadCount)
                }
            }
            try poll("both sleep") { lock.sleepingThreadCount == 2 }
            lock.unlock()
            isIn.waitUntilOpen()
            mayUnlock.open()
            for sleeper in sleepers { sleeper.join() }
            #expect(sleeping.entries == [0, 0])
        }
    }

    @Test("A thread that was woken too late sleeps again, and is not forgotten")
    func wokenTooLate() throws {
        try inTime {
            let lock = WordLock()
            let counter = Unguarded(0)
            let sleepers = try sleepers(3, at: lock) { counter.value += 1 }
            for _ in 0..<500 {
                lock.unlock()
                // Mostly here before the woken thread is.
                lock.lock()
                try poll("the others sleep again") { lock.sleepingThreadCount + counter.value == 3 }
            }
            lock.unlock()
            for sleeper in sleepers { sleeper.join() }
            #expect(lock.around { counter.value } == 3)
        }
    }

    @Test("tryLock() leaves a lock that others sleep for alone")
    func tried() throws {
        try inTime {
            let lock = WordLock()
            let sleepers = try sleepers(1, at: lock)
            #expect(!lock.tryLock())
            onThreads(1) { _ in #expect(!lock.tryLock()) }
            lock.unlock()
            sleepers[0].join()
        }
    }

    @Test("A thread that takes a lock it holds crashes with a message, also while others sleep")
    func lockedTwice() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let lock = WordLock()
            _ = try sleepers(1, at: lock)
            lock.around {}
        }
        #expect(result.crashMessage.contains("takes a lock that it already holds: WordLock at 0x"))
    }

    @Test("Unlocking on another thread crashes with a message, also while others sleep")
    func unlockedElsewhere() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let lock = WordLock()
            _ = try sleepers(1, at: lock)
            onThreads(1) { _ in lock.unlock() }
        }
        #expect(result.crashMessage.contains("unlocks a lock that it doesn't hold"))
    }
}

/// Takes a lock, and returns when as many threads sleep that want it too.
private func sleepers(
    _ count: Int,
    at lock: WordLock,
    then body: @escaping @Sendable () -> Void = {}
) throws -> [RunningThread] {
    lock.lock()
    let threads = (0..<count).map { _ in RunningThread { lock.around(body) } }
    try poll("all sleep") { lock.sleepingThreadCount == count }
    return threads
}
