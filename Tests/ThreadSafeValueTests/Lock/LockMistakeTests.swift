//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

/// What happens when a lock that says so itself is used wrongly. Each in a process of its own, which must crash, and
/// not hang.
@Suite("Mistakes with a lock crash with a message")
struct LockMistakeTests {
    @Test("A thread that takes a lock it holds crashes with a message that says so", arguments: CheckedLock.allCases)
    func lockedTwice(backend: CheckedLock) async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) { [backend] in
            giveUp(afterSeconds: 120)
            let lock = backend.make()
            onThreads(1) { _ in
                lock.lock()
                lock.lock()
            }
        }
        #expect(result.crashMessage.contains("takes a lock that it already holds"))
        #expect(result.crashMessage.contains("held across an `await`"))
    }

    @Test("So does one that had the lock with tryLock()", arguments: CheckedLock.allCases)
    func triedThenLocked(backend: CheckedLock) async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) { [backend] in
            giveUp(afterSeconds: 120)
            let lock = backend.make()
            onThreads(1) { _ in
                guard lock.tryLock() else { return }
                lock.lock()
            }
        }
        #expect(result.crashMessage.contains("takes a lock that it already holds"))
    }

    @Test(
        "A closure in around(_:) that takes the same lock crashes with the same message",
        arguments: CheckedLock.allCases
    )
    func around(backend: CheckedLock) async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) { [backend] in
            giveUp(afterSeconds: 120)
            let lock = backend.make()
            lock.around { lock.around {} }
        }
        #expect(result.crashMessage.contains("takes a lock that it already holds"))
    }

    @Test(
        "Unlocking on another thread crashes with a message that says so, and names a likely cause",
        arguments: CheckedLock.allCases
    )
    func unlockedElsewhere(backend: CheckedLock) async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) { [backend] in
            giveUp(afterSeconds: 120)
            let lock = backend.make()
            onThreads(1) { _ in
                lock.lock()
                onThreads(1) { _ in lock.unlock() }
            }
        }
        #expect(result.crashMessage.contains("unlocks a lock that it doesn't hold"))
        #expect(result.crashMessage.contains("held across an `await`"))
    }

    @Test("Unlocking a free lock crashes with a message that says so", arguments: CheckedLock.allCases)
    func unlockedTwice(backend: CheckedLock) async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) { [backend] in
            let lock = backend.make()
            onThreads(1) { _ in
                lock.lock()
                lock.unlock()
                lock.unlock()
            }
        }
        #expect(result.crashMessage.contains("unlocks a lock that it doesn't hold"))
    }

    @Test("A lock that goes away while it is held crashes with a message that says so", arguments: CheckedLock.allCases)
    func destroyedWhileHeld(backend: CheckedLock) async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) { [backend] in
            backend.endWhileHeld()
        }
        #expect(result.crashMessage.contains("goes away while a thread holds it"))
    }
}

/// The locks whose crashes say the same on every system.
enum CheckedLock: String, CaseIterable, Codable, Sendable {
    case wordLock, pthreadMutex

    fileprivate func make() -> any Lock {
        switch self {
        case .wordLock: WordLock()
        case .pthreadMutex: PthreadMutex()
        }
    }

    // Not inlined: where a process exits right after, the optimizer spares itself to let go of anything.
    @inline(never)
    fileprivate func endWhileHeld() {
        make().lock()
    }
}
