//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

/// An async body has the turn of one value and wants that of a second, and a thread has that and wants the first.
@Suite("Circles of async bodies and threads")
struct AwaitedCircleTests {
    @Test("Of a body whose thread waits and a thread, one is told that it would close the circle")
    func blockingWait() async throws {
        try await expectOneCircle { first, second, both, answers in
            await first.async.lowestPriority.set { number in
                // So the closure is async.
                await Task.yield()
                both.pass()
                answers.add(Self.increment(second))
                number += 1
            }
        }
    }

    @Test("Also if the body that waits is in another one, which has the turn that the thread wants")
    func outerBody() async throws {
        try await expectOneCircle { first, second, both, answers in
            await first.async.lowestPriority.set { number in
                await QueueSafeValue(value: 0).async.lowestPriority.set { _ in
                    both.pass()
                    answers.add(await second.async.lowestPriority.set { $0 += 1 })
                }
                number += 1
            }
        }
    }

    /// The thread has the turn of the full value, and waits for that of the body until the body ends.
    @Test("A body whose command a full value has not accepted waits for nothing, and closes no circle")
    func notAccepted() async throws {
        let answers = try await onThreadOfItsOwn {
            try inTime {
                var policy = HandoffPolicy()
                policy.circleDelay = 0
                let first = QueueSafeValue(value: 0, policy: policy)
                let full = QueueSafeValue(value: 0, pendingCommandLimit: 0)
                let answers = Log<Answer>()
                let (isTaken, isRefused, isGivenBack) = (Door(), Door(), Door())
                let mayEnd = Protected(false)
                let holder = RunningThread {
                    full.wait.lowestPriority.get { _ in
                        isTaken.open()
                        isRefused.waitUntilOpen()
                    }
                    isGivenBack.open()
                }
                isTaken.waitUntilOpen()
                OwnThreads.run {
                    await first.async.lowestPriority.set { number in
                        answers.add(await full.async.lowestPriority.get())
                        isRefused.open()
                        while !mayEnd.wrappedValue { await Task.yield() }
                        number += 1
                    }
                }
                isGivenBack.waitUntilOpen()
                let thread = RunningThread {
                    full.wait.lowestPriority.get { _ in answers.add(first.wait.lowestPriority.get()) }
                }
                try poll("the thread waits, or has its answer") { first.pendingCommandCount == 1 || answers.count == 2 }
                // Time to look for a circle; without it, a mistake may be overlooked.
                usleep(20_000)
                mayEnd.wrappedValue = true
                thread.join()
                holder.join()
                return answers.entries
            }
        }
        #expect(answers == [.failure(.commandQueueFull), .success(1)])
    }

    // The body takes the first value, passes the gate, and adds what it is answered by the second.
    private func expectOneCircle(
        _ body:
            @escaping @Sendable (QueueSafeValue<Int>, QueueSafeValue<Int>, StartGate, Log<Answer>) async -> Void
    ) async throws {
        let answers = try await onThreadOfItsOwn {
            try inTime {
                let (first, second) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
                let both = StartGate(count: 2)
                let answers = Log<Answer>()
                let end = Door()
                OwnThreads.run {
                    await body(first, second, both, answers)
                    end.open()
                }
                second.wait.lowestPriority.set { _ in
                    both.pass()
                    answers.add(Self.increment(first))
                }
                end.waitUntilOpen()
                return answers.entries
            }
        }
        #expect(answers.count == 2)
        #expect(answers.count { $0 == .failure(.circularWait) } == 1, "\(answers)")
    }

    // Not in an async closure, which had better await.
    private static func increment(_ value: QueueSafeValue<Int>) -> Answer {
        value.wait.lowestPriority.set { $0 += 1 }
    }
}
