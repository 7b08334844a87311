//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

// The locks of Apple's system hide who holds them.
#if !canImport(Darwin)
private let systemTells = true
#else
private let systemTells = false
#endif

/// Circles through locks and turns: a command that closes one is answered, an access to a lock crashes with a message. The one
/// that begins to wait later closes it. It begins when the other has waited for long, so that both have looked by then.
@Suite("Mistakes answer: circles through a protected and a queue-safe value", .enabled(if: systemTells))
struct MixedCircleTests {
    @Test("A command that closes the circle is answered, and the access that waits goes on")
    func commandLast() throws {
        let answer = try inTime(seconds: 30) {
            let (locked, queued) = (Protected(1), QueueSafeValue(value: 2))
            let answer = Log<Result<Int, QueueSafeValueError>>()
            let both = StartGate(count: 2)
            onThreads(2) { index in
                if index == 0 {
                    locked.write { _ in
                        both.pass()
                        usleep(100_000)
                        answer.add(queued.wait.lowestPriority.set { $0 += 1 })
                    }
                } else {
                    queued.wait.lowestPriority.set { _ in
                        both.pass()
                        locked.write { $0 += 1 }
                    }
                }
            }
            #expect(locked.wrappedValue == 2)
            return answer.entries
        }
        #expect(answer == [.failure(.circularWait)])
    }

    @Test("An access that closes the circle crashes with a message that names both")
    func accessLast() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 30)
            let (locked, queued) = (Protected("a"), QueueSafeValue(value: 2))
            let both = StartGate(count: 2)
            onThreads(2) { index in
                if index == 0 {
                    locked.write { _ in
                        both.pass()
                        queued.wait.lowestPriority.set { $0 += 1 }
                    }
                } else {
                    queued.wait.lowestPriority.set { _ in
                        both.pass()
                        usleep(100_000)
                        locked.write { $0 += "b" }
                    }
                }
            }
        }
        #expect(result.crashMessage.contains("Threads take locks in different orders"))
        #expect(result.crashMessage.contains("Protected<String> at 0x"))
        #expect(result.crashMessage.contains("QueueSafeValue<Int> at 0x"))
    }

    /// Each has one, and waits for the next; the one that waits for the turn is last.
    @Test("In a circle of three a command that comes last is answered")
    func threeWithCommandLast() throws {
        let answer = try inTime(seconds: 30) {
            let (first, second, queued) = (Protected(0), Protected(0), QueueSafeValue(value: 0))
            let answer = Log<Result<Int, QueueSafeValueError>>()
            let all = StartGate(count: 3)
            onThreads(3) { index in
                switch index {
                case 0:
                    first.write { _ in
                        all.pass(); second.write { $0 += 1 }
                    }
                case 1:
                    second.write { _ in
                        all.pass()
                        usleep(100_000)
                        answer.add(queued.wait.lowestPriority.set { $0 += 1 })
                    }
                default:
                    queued.wait.lowestPriority.set { _ in
                        all.pass(); first.write { $0 += 1 }
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
            giveUp(afterSeconds: 30)
            let (first, second, queued) = (Protected(0), QueueSafeValue(value: "a"), QueueSafeValue(value: 0))
            let all = StartGate(count: 3)
            onThreads(3) { index in
                switch index {
                case 0:
                    first.write { _ in
                        all.pass(); second.wait.lowestPriority.set { $0 += "b" }
                    }
                case 1:
                    second.wait.lowestPriority.set { _ in
                        all.pass(); queued.wait.lowestPriority.set { $0 += 1 }
                    }
                default:
                    queued.wait.lowestPriority.set { _ in
                        all.pass()
                        usleep(100_000)
                        first.write { $0 += 1 }
                    }
                }
            }
        }
        #expect(result.crashMessage.contains("Threads take locks in different orders"))
        for name in ["Protected<Int>", "QueueSafeValue<String>", "QueueSafeValue<Int>"] {
            #expect(result.crashMessage.contains("\(name) at 0x"))
        }
    }

    @Test("A wait with a time-out closes no circle: it ends, and the others go on", arguments: [false, true])
    func timedOut(isAccess: Bool) throws {
        try inTime(seconds: 30) {
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
}
