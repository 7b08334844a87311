//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

/// Where a queue that is late may change an answer, as one of a busy machine is now and then, a test counts rounds.
@Suite("The rules of the line: send")
struct SendRuleTests {
    @Test("Rule 3: a release with nothing in line leaves the turn free for a try")
    func turnIsFree() async throws {
        let value = QueueSafeValue(value: 0)
        let answers = Log<Answer>()
        let tryIt: @Sendable () -> Void = { answers.add(value.wait(timeout: .seconds(0)).lowestPriority.get()) }
        try await onThreadOfItsOwn {
            try inTime {
                tryIt()
                value.wait.lowestPriority.set { $0 += 1 }
                tryIt()
                value.wait.highestPriority.set { _, done in done() }
                tryIt()
                value.suspend()
                value.resume()
                tryIt()
                let target = DispatchQueue(label: "target")
                value.async(performIn: target).lowestPriority.set {
                    $0 += 1
                } completion: { _ in
                }
                // Its block is over.
                try poll("it has run") { value.pendingCommandCount() == 0 }
                target.sync {}
                tryIt()
                // Those that were in line and are no more.
                let holder = HoldingThread(value)
                _ = value.wait(timeout: .milliseconds(1)).highestPriority.get()
                let queue = DispatchQueue(label: "stands")
                queue.suspend()
                value.async(performIn: queue).highestPriority.set { $0 += 1 }.cancel()
                holder.end()
                tryIt()
                queue.resume()
            }
        }
        await value.async.lowestPriority.set { $0 += 1 }
        tryIt()
        await value.async.lowestPriority.set {
            await Task.yield()
            $0 += 1
        }
        tryIt()
        #expect(answers.entries == [0, 1, 1, 1, 2, 2, 3, 4].map { .success($0) })
    }

    @Test("Rule 3: a completion finds the turn free for a try, when nothing is in line")
    func turnIsFreeInCompletion() throws {
        let (answers, pending) = try inTime {
            let value = QueueSafeValue(value: 0)
            let (answers, pending) = (Log<Answer>(), Log<Int>())
            let told = Door()
            value.async(performIn: DispatchQueue(label: "target")).lowestPriority.set {
                $0 += 1
            } completion: { _ in
                pending.add(value.pendingCommandCount())
                // On the queue, then on another thread.
                answers.add(value.wait(timeout: .seconds(0)).lowestPriority.get())
                RunningThread { answers.add(value.wait(timeout: .seconds(0)).lowestPriority.get()) }.join()
                told.open()
            }
            told.waitUntilOpen()
            return (answers.entries, pending.entries)
        }
        #expect(pending == [0])
        #expect(answers == [.success(1), .success(1)])
    }

    /// The command comes in vain in each round, so the turn waits for its queue for longer and longer.
    @Test(
        "Rule 3: a free turn that a lowest command on a queue that stands is to have is had by the highest try at once"
    )
    func highestBesideStandingLowest() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "stands")
            var holder = HoldingThread(value)
            value.async(performIn: queue).lowestPriority.set { $0 += 1 }
            let answers = (0..<6).map { _ in
                // The block that was sent for comes in vain.
                queue.sync {}
                queue.suspend()
                holder.end()
                let answer = value.wait(timeout: .seconds(0)).highestPriority.get()
                holder = HoldingThread(value, .highest)
                queue.resume()
                return answer
            }
            holder.end()
            return answers
        }
        #expect(answers == Array(repeating: .success(0), count: 6))
    }

    @Test("Rule 3: so is that of a task whose executor stands")
    func highestBesideStandingTask() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        let answer = try await onThreadOfItsOwn {
            try inTime {
                let (value, executor) = (QueueSafeValue(value: 0), QueueExecutor())
                try sendForInVain(value, executor)
                let answer = value.wait(timeout: .seconds(0)).highestPriority.get()
                executor.queue.resume()
                try poll("the task goes on") { value.wait.lowestPriority.get() == .success(1) }
                return answer
            }
        }
        #expect(answer == .success(0))
    }

    @Test("Rule 3: tries of all kinds succeed beside a queue that stands, once that is late", arguments: [1, 40])
    func tries(queueCount: Int) async throws {
        for form in 0..<3 {
            let value = QueueSafeValue(value: 0)
            let queues = (0..<queueCount).map { DispatchQueue(label: "\($0)") }
            let blocker = Blocker(value)
            for queue in queues {
                value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                queue.sync {}
                queue.suspend()
            }
            blocker.end()
            var isDone = false
            for _ in 0..<10_000 where !isDone {
                let now = DispatchTimeInterval.seconds(0)
                let answer: Answer
                switch form {
                case 0: answer = value.wait(timeout: now).lowestPriority.get()
                case 1: answer = withLocked(value, QueueSafeValue(value: 0), timeout: now) { value, _ in value }
                default: answer = await value.async(timeout: now).lowestPriority.get()
                }
                isDone = answer == .success(0)
                if !isDone { try await Task.sleep(nanoseconds: 100_000) }
            }
            #expect(isDone)
            for queue in queues { queue.resume() }
        }
    }
}
