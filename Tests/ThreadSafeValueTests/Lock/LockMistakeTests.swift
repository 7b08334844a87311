//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

/// What happens when a lock that says so itself is used wrongly. Each in a process of its own, which must crash, and
/// not hang.
@Suite("Mistakes with a lock crash with a message")
struct LockMistakeTests {
    @Test("A thread that takes a lock it holds crashes with a message that says so")
    func lockedTwice() async throws {
        let results = [
            await #expect(processExitsWith: .failure, observing: standardError) { lockTwice(WordLock()) },
            await #expect(processExitsWith: .failure, observing: standardError) { lockTwice(PthreadMutex()) },
        ]
        for result in results {
            let message = try #require(result).crashMessage
            #expect(message.contains("takes a lock that it already holds"))
            #expect(message.contains("did a task suspend while it held the lock"))
        }
    }

    @Test("So does one that had the lock with tryLock()")
    func triedThenLocked() async throws {
        let results = [
            await #expect(processExitsWith: .failure, observing: standardError) { tryAndLock(WordLock()) },
            await #expect(processExitsWith: .failure, observing: standardError) { tryAndLock(PthreadMutex()) },
        ]
        for result in results {
            #expect(try #require(result).crashMessage.contains("takes a lock that it already holds"))
        }
    }

    @Test("A closure in around(_:) that takes the same lock crashes with the same message")
    func around() async throws {
        let results = [
            await #expect(processExitsWith: .failure, observing: standardError) { nest(WordLock()) },
            await #expect(processExitsWith: .failure, observing: standardError) { nest(PthreadMutex()) },
        ]
        for result in results {
            #expect(try #require(result).crashMessage.contains("takes a lock that it already holds"))
        }
    }

    @Test("Unlocking on another thread crashes with a message that says so, and names a likely cause")
    func unlockedElsewhere() async throws {
        let results = [
            await #expect(processExitsWith: .failure, observing: standardError) { unlockElsewhere(WordLock()) },
            await #expect(processExitsWith: .failure, observing: standardError) { unlockElsewhere(PthreadMutex()) },
        ]
        for result in results {
            let message = try #require(result).crashMessage
            #expect(message.contains("unlocks a lock that it doesn't hold"))
            #expect(message.contains("held across an `await`"))
        }
    }

    @Test("Unlocking a free lock crashes with a message that says so")
    func unlockedTwice() async throws {
        let results = [
            await #expect(processExitsWith: .failure, observing: standardError) { unlockTwice(WordLock()) },
            await #expect(processExitsWith: .failure, observing: standardError) { unlockTwice(PthreadMutex()) },
        ]
        for result in results {
            #expect(try #require(result).crashMessage.contains("unlocks a lock that it doesn't hold"))
        }
    }

    @Test("A lock that goes away while it is held crashes with a message that says so")
    func destroyedWhileHeld() async throws {
        let results = [
            await #expect(processExitsWith: .failure, observing: standardError) { endWhileHeld { WordLock() } },
            await #expect(processExitsWith: .failure, observing: standardError) { endWhileHeld { PthreadMutex() } },
        ]
        for result in results {
            #expect(try #require(result).crashMessage.contains("goes away while a thread holds it"))
        }
    }
}

private func lockTwice(_ lock: some Lock) {
    giveUp(afterSeconds: 120)
    onThreads(1) { _ in
        lock.lock()
        lock.lock()
    }
}

private func tryAndLock(_ lock: some Lock) {
    giveUp(afterSeconds: 120)
    onThreads(1) { _ in
        guard lock.tryLock() else { return }
        lock.lock()
    }
}

private func nest(_ lock: some Lock) {
    giveUp(afterSeconds: 120)
    lock.around { lock.around {} }
}

private func unlockElsewhere(_ lock: some Lock) {
    giveUp(afterSeconds: 120)
    onThreads(1) { _ in
        lock.lock()
        onThreads(1) { _ in lock.unlock() }
    }
}

private func unlockTwice(_ lock: some Lock) {
    onThreads(1) { _ in
        lock.lock()
        lock.unlock()
        lock.unlock()
    }
}

// Not inlined: where a process exits right after, the optimizer spares itself to let go of anything.
@inline(never)
private func endWhileHeld(_ make: () -> some Lock) {
    make().lock()
}
