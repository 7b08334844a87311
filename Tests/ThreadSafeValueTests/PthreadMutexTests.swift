//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

/// What happens when a lock is used wrongly. Each in a process of its own, which must crash, and not hang.
@Suite("PthreadMutex, mistakes")
struct PthreadMutexMistakeTests {
    @Test("A thread that takes a lock it holds crashes with a message that says so")
    func lockedTwice() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 20)
            let mutex = PthreadMutex()
            mutex.lock()
            mutex.lock()
        }
        #expect(result.crashMessage.contains("takes a lock that it already holds"))
    }

    @Test("So does one that had the lock with tryLock()")
    func triedThenLocked() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 20)
            let mutex = PthreadMutex()
            guard mutex.tryLock() else { return }
            mutex.lock()
        }
        #expect(result.crashMessage.contains("takes a lock that it already holds"))
    }

    @Test("A closure in around(_:) that takes the same lock crashes with the same message")
    func around() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 20)
            let mutex = PthreadMutex()
            mutex.around { mutex.around {} }
        }
        #expect(result.crashMessage.contains("takes a lock that it already holds"))
    }

    @Test("Unlocking on another thread crashes with a message that says so, and names a likely cause")
    func unlockedElsewhere() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 20)
            let mutex = PthreadMutex()
            mutex.lock()
            onThreads(1) { _ in mutex.unlock() }
        }
        #expect(result.crashMessage.contains("unlocks a lock that it doesn't hold"))
        #expect(result.crashMessage.contains("held across an `await`"))
    }

    @Test("Unlocking a free lock crashes with a message that says so")
    func unlockedTwice() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let mutex = PthreadMutex()
            mutex.lock()
            mutex.unlock()
            mutex.unlock()
        }
        #expect(result.crashMessage.contains("unlocks a lock that it doesn't hold"))
    }

    @Test("A lock that goes away while it is held crashes with a message that says so")
    func destroyedWhileHeld() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var mutex: PthreadMutex? = PthreadMutex()
            mutex?.lock()
            mutex = nil
        }
        #expect(result.crashMessage.contains("goes away while a thread holds it"))
    }
}
