//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

/// What every lock promises; run for each backend of this system.
@Suite("Lock")
struct LockTests {
    static let locks: [any Lock.Type] = {
        #if canImport(Darwin)
        [WordLock.self, PthreadMutex.self, UnfairLock.self]
        #else
        [WordLock.self, PthreadMutex.self]
        #endif
    }()

    @Test("One thread at a time holds the lock", arguments: locks)
    func excludes(type: any Lock.Type) {
        let lock = type.init()
        let counter = Unguarded(0)
        onThreads(4) { _ in
            for _ in 0..<20_000 {
                lock.lock()
                counter.value += 1
                lock.unlock()
            }
        }
        #expect(counter.value == 80_000)
    }

    @Test("around(_:) holds the lock while the closure runs, and returns what it returns", arguments: locks)
    func around(type: any Lock.Type) {
        let lock = type.init()
        let counter = Unguarded(0)
        onThreads(4) { _ in
            for _ in 0..<20_000 { lock.around { counter.value += 1 } }
        }
        #expect(lock.around { counter.value } == 80_000)
    }

    @Test("around(_:) runs the closure on the calling thread")
    func aroundRunsHere() {
        onThreads(2) { _ in
            let here = ThreadID.current
            #expect(PlatformLock().around { ThreadID.current } == here)
        }
    }

    @Test("around(_:) forwards the type of the error, and a throwing closure frees the lock", arguments: locks)
    func aroundThrows(type: any Lock.Type) {
        let lock = type.init()
        do throws(Refusal) {
            try lock.around { () throws(Refusal) in throw Refusal(code: 7) }
            Issue.record("nothing was thrown")
        } catch {
            #expect(error.code == 7)
        }
        #expect(lock.tryLock())
        lock.unlock()
    }

    @Test("around(_:) can return what cannot be copied")
    func aroundReturnsNoncopyable() {
        let only = PlatformLock().around { Only(id: 3) }
        #expect(only.id == 3)
    }

    @Test("withLock(_:) is another word for around(_:)", arguments: locks)
    func withLock(type: any Lock.Type) {
        let lock = type.init()
        let counter = Unguarded(0)
        onThreads(4) { _ in
            for _ in 0..<5_000 { lock.withLock { counter.value += 1 } }
        }
        #expect(lock.withLock { Only(id: counter.value) }.id == 20_000)
        do throws(Refusal) {
            try lock.withLock { () throws(Refusal) in throw Refusal(code: 3) }
            Issue.record("nothing was thrown")
        } catch {
            #expect(error.code == 3)
        }
        #expect(lock.tryLock())
        lock.unlock()
    }

    @Test("tryLock() takes a free lock, and leaves a held one alone without waiting", arguments: locks)
    func tryLock(type: any Lock.Type) {
        let lock = type.init()
        #expect(lock.tryLock())
        onThreads(1) { _ in #expect(!lock.tryLock()) }
        lock.unlock()
        onThreads(1) { _ in
            #expect(lock.tryLock())
            lock.unlock()
        }
    }

    @Test("tryLock() on the thread that holds the lock is false", arguments: locks)
    func tryLockAgain(type: any Lock.Type) {
        let lock = type.init()
        lock.lock()
        #expect(!lock.tryLock())
        lock.unlock()
        #expect(lock.tryLock())
        lock.unlock()
    }

    @Test("A thread that takes a lock it holds crashes and doesn't hang, on every system")
    func lockedTwice() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let lock = PlatformLock()
            lock.around { lock.lock() }
        }
        #expect(result.crashMessage != "It hung.")
    }

    @Test("What a thread wrote under the lock is seen by the next that has it", arguments: locks)
    func publishes(type: any Lock.Type) {
        let lock = type.init()
        let names = Unguarded([String]())
        onThreads(4) { index in
            for turn in 0..<500 {
                lock.around { names.value.append("\(index).\(turn)") }
            }
        }
        #expect(Set(names.value).count == 2_000)
    }

    @Test("Many locks live and die without leaving anything behind", arguments: locks)
    func comesAndGoes(type: any Lock.Type) {
        for _ in 0..<1_000 {
            let lock = type.init()
            lock.around {}
        }
    }
}

struct Refusal: Error, Equatable {
    var code = 0
}

struct Only: ~Copyable {
    let id: Int
}
