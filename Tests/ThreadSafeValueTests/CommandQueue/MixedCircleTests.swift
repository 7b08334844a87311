//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing

@testable import ThreadSafeValue

// The locks of Apple's system hide who holds them.
#if !canImport(Darwin)
private let systemTells = true
#else
private let systemTells = false
#endif

/// Circles through locks and turns: a command that closes one is answered, an access to a lock crashes with a message.
/// The wait that begins last closes it: each test lets it begin when the graph of waits has all others.
@Suite("Mistakes answer: circles through a protected and a queue-safe value", .enabled(if: systemTells))
struct MixedCircleTests {
    @Test("A command that closes the circle is answered, and the access that waits goes on")
    func commandLast() throws {
        let answer = try inTime {
            let (locked, queued) = (Protected(First()), QueueSafeValue(value: Second()))
            let answer = Log<Result<Second, QueueSafeValueError>>()
            let both = StartGate(count: 2)
            onThreads(2) { index in
                if index == 0 {
                    locked.write { _ in
                        both.pass()
                        waitUntilThreadsWait(for: Protected<First>.self)
                        answer.add(queued.wait.lowestPriority.set { $0.changes += 1 })
                    }
                } else {
                    queued.wait.lowestPriority.set { _ in
                        both.pass()
                        locked.write { $0.changes += 1 }
                    }
                }
            }
            #expect(locked.changes == 1)
            return answer.entries
        }
        #expect(answer == [.failure(.circularWait)])
    }

    /// The thread may be slow to leave when it has been woken: it is in no circle as soon as it is cancelled.
    @Test("A thread whose command was cancelled is in no circle any more, 50 times")
    func cancelled() throws {
        let answers = try inTime {
            let answers = Log<Result<First, QueueSafeValueError>>()
            for _ in 0..<50 {
                let (first, second) = (QueueSafeValue(value: First()), QueueSafeValue(value: Second()))
                let both = StartGate(count: 2)
                onThreads(2) { index in
                    if index == 0 {
                        first.wait.lowestPriority.set { _ in
                            both.pass()
                            second.wait.lowestPriority.set { $0.changes += 1 }
                        }
                    } else {
                        second.wait.lowestPriority.set { _ in
                            both.pass()
                            waitUntilThreadsWait(for: Second.self)
                            second.cancelAllPendingCommands()
                            #expect(!aThreadWaits(for: Second.self))
                            answers.add(first.wait.lowestPriority.get())
                        }
                    }
                }
            }
            return answers.entries
        }
        #expect(answers == Array(repeating: .success(First()), count: 50))
    }

    @Test("An access that closes the circle crashes with a message that names both")
    func accessLast() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let (locked, queued) = (Protected(First()), QueueSafeValue(value: Second()))
            let both = StartGate(count: 2)
            onThreads(2) { index in
                if index == 0 {
                    locked.write { _ in
                        both.pass()
                        queued.wait.lowestPriority.set { $0.changes += 1 }
                    }
                } else {
                    queued.wait.lowestPriority.set { _ in
                        both.pass()
                        waitUntilThreadsWait(for: Second.self)
                        locked.write { $0.changes += 1 }
                    }
                }
            }
        }
        #expect(result.crashMessage.contains("Threads take locks in different orders"))
        #expect(result.crashMessage.contains("Protected<First> at 0x"))
        #expect(result.crashMessage.contains("QueueSafeValue<Second> at 0x"))
    }

    /// Each has one, and waits for the next; the one that waits for the turn is last.
    @Test("In a circle of three a command that comes last is answered")
    func threeWithCommandLast() throws {
        let answer = try inTime {
            let (first, second, queued) = (Protected(Second()), Protected(Third()), QueueSafeValue(value: First()))
            let answer = Log<Result<First, QueueSafeValueError>>()
            let all = StartGate(count: 3)
            onThreads(3) { index in
                switch index {
                case 0:
                    first.write { _ in
                        all.pass()
                        second.write { $0.changes += 1 }
                    }
                case 1:
                    second.write { _ in
                        all.pass()
                        waitUntilThreadsWait(for: Protected<Second>.self, Protected<Third>.self)
                        answer.add(queued.wait.lowestPriority.set { $0.changes += 1 })
                    }
                default:
                    queued.wait.lowestPriority.set { _ in
                        all.pass()
                        first.write { $0.changes += 1 }
                    }
                }
            }
            return answer.entries
        }
        #expect(answer == [.failure(.circularWait)])
    }

    @Test("In a circle of three an access that comes last crashes with a message that names all")
    func threeWithAccessLast() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let first = Protected(First())
            let (second, third) = (QueueSafeValue(value: Second()), QueueSafeValue(value: Third()))
            let all = StartGate(count: 3)
            onThreads(3) { index in
                switch index {
                case 0:
                    first.write { _ in
                        all.pass()
                        second.wait.lowestPriority.set { $0.changes += 1 }
                    }
                case 1:
                    second.wait.lowestPriority.set { _ in
                        all.pass()
                        third.wait.lowestPriority.set { $0.changes += 1 }
                    }
                default:
                    third.wait.lowestPriority.set { _ in
                        all.pass()
                        waitUntilThreadsWait(for: Second.self, Third.self)
                        first.write { $0.changes += 1 }
                    }
                }
            }
        }
        #expect(result.crashMessage.contains("Threads take locks in different orders"))
        for name in ["Protected<First>", "QueueSafeValue<Second>", "QueueSafeValue<Third>"] {
            #expect(result.crashMessage.contains("\(name) at 0x"))
        }
    }

    @Test("A wait with a time-out closes no circle: it ends, and the others go on", arguments: [false, true])
    func timedOut(isAccess: Bool) throws {
        try inTime {
            let (locked, queued) = (Protected(1), QueueSafeValue(value: 2))
            let both = StartGate(count: 2)
            onThreads(2) { index in
                if index == 0 {
                    locked.write { _ in
                        both.pass()
                        let answer =
                            isAccess
                            ? queued.wait.lowestPriority.set { $0 += 1 }
                            : queued.wait(timeout: .milliseconds(50)).lowestPriority.set { $0 += 1 }
                        #expect(answer == (isAccess ? .success(3) : .failure(.timedOut)))
                    }
                } else {
                    queued.wait.lowestPriority.set { _ in
                        both.pass()
                        if isAccess {
                            #expect(locked.write(timeout: .milliseconds(50)) { $0 += 1 } == nil)
                        } else {
                            locked.write { $0 += 1 }
                        }
                    }
                }
            }
        }
    }

    @Test("An async body that has awaited a submitted command is in no circle any more")
    func awaited() async throws {
        let (first, second) = (QueueSafeValue(value: Fourth()), QueueSafeValue(value: Fifth()))
        let (isHeld, mayEnd) = (Door(), Door())
        let holder = RunningThread {
            second.wait.lowestPriority.set { _ in
                isHeld.open()
                mayEnd.waitUntilOpen()
            }
        }
        try await onThreadOfItsOwn { isHeld.waitUntilOpen() }
        let answers = Log<Result<Fourth, QueueSafeValueError>>()
        let ender = RunningThread {
            waitUntilThreadsWait(for: Fifth.self)
            mayEnd.open()
        }
        await OwnThreads.run {
            await first.async.lowestPriority.set { (_: inout Fourth) async in
                _ = await second.async.lowestPriority.submit { $0.changes += 1 }.value
                // Now something that has the second value waits for the first.
                try? await onThreadOfItsOwn {
                    Thread {
                        second.wait.lowestPriority.set { _ in
                            answers.add(first.wait.lowestPriority.set { $0.changes += 1 })
                        }
                    }.start()
                    try poll(seconds: 60, "a thread waits") {
                        aThreadWaits(for: Fourth.self) || !answers.entries.isEmpty
                    }
                }
            }
        }.value
        holder.join()
        ender.join()
        try await onThreadOfItsOwn { try poll(seconds: 60, "an answer") { !answers.entries.isEmpty } }
        #expect(answers.entries == [.success(Fourth(changes: 1))])
    }
}

// The graph of waits has those of other tests too, and knows what is waited for by its type. So no two tests in one
// process wait until somebody waits for the same one of these.

private struct First: Equatable, Sendable {
    var changes = 0
}

private struct Second: Equatable, Sendable {
    var changes = 0
}

private struct Third: Equatable, Sendable {
    var changes = 0
}

private struct Fourth: Equatable, Sendable {
    var changes = 0
}

private struct Fifth: Equatable, Sendable {
    var changes = 0
}

/// Returns when the graph of waits has a thread that waits for the turn of a value of each of these types, or for a
/// protected value of it. If none ever does, the test's answer is another one.
private func waitUntilThreadsWait(for users: Any.Type...) {
    try? poll(seconds: 60, "threads wait") { users.allSatisfy(aThreadWaits) }
}

private func aThreadWaits(for user: Any.Type) -> Bool {
    WaitGraph.shared.mutex.around {
        WaitGraph.shared.waits.entries.values.contains { $0.first.resource.user == user }
    }
}
