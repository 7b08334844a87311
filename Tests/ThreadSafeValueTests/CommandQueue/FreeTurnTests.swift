//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

/// Where a queue that is late may change an answer, as one of a busy machine is now and then, a test counts rounds.
@Suite("The rules of the line: nothing that does not run has the turn")
struct FreeTurnTests {
    // MARK: 3, send

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

    // MARK: 4, owed

    /// Rounds are counted, not time. A command that holds for longer than a look lasts must not hide the front. The system
    /// may keep a lowest thread from running for a thousand short rounds, so the test makes up to ten attempts.
    @Test(
        "Rule 4: a lowest queue, thread and task get their turns beside a thread that loops with the highest priority",
        arguments: [20, 200, 1_000] as [UInt64]
    )
    func lowestBesideUrgentStream(microseconds: UInt64) throws {
        var roundsInLine = Int.max
        for _ in 0..<10 where roundsInLine >= 1_000 {
            let served: Int
            (served, roundsInLine) = try inTime { serveLowest(besideHoldsOf: microseconds) }
            #expect(served == 15)
        }
        #expect(roundsInLine < 1_000)
    }

    @Test("Rule 4: what was owed for a command goes with it when it is cancelled")
    func owedGoesWithCommand() throws {
        let answers = try inTime {
            (0..<10).map { _ in
                let value = QueueSafeValue(value: 0)
                let queue = DispatchQueue(label: "stands")
                let holder = HoldingThread(value)
                let command = value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                queue.sync {}
                queue.suspend()
                holder.end()
                command.cancel()
                defer { queue.resume() }
                return value.wait(timeout: .seconds(0)).lowestPriority.get()
            }
        }
        #expect(answers == Array(repeating: .success(0), count: 10))
    }

    // MARK: 5, late

    /// One after the other they would take 10 s.
    @Test("Rule 5: hundreds of queues that stand when a long command ends are late together")
    func queuesBehindLongCommand() throws {
        let (answer, sum) = try inTime {
            let value = QueueSafeValue(value: 0)
            let holder = HoldingThread(value)
            let queues = (0..<2_000).map { DispatchQueue(label: "\($0)") }
            for queue in queues { value.async(performIn: queue).lowestPriority.set { $0 += 1 } }
            for queue in queues {
                queue.sync {}
                queue.suspend()
            }
            holder.end()
            let answer = value.wait(timeout: .seconds(9)).lowestPriority.get()
            for queue in queues { queue.resume() }
            try poll("all are done") { value.pendingCommandCount() == 0 }
            return (answer, value.wait.lowestPriority.get())
        }
        #expect(answer == .success(0))
        #expect(sum == .success(2_000))
    }

    @Test("Rule 5: the time-out of a task that came in vain is answered while another command has the turn")
    func timeOutOfTask() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        let answers = try await onThreadOfItsOwn {
            try inTime {
                let (value, executor, answers) = (QueueSafeValue(value: 0), QueueExecutor(), Log<Answer>())
                try sendForInVain(value, executor, timeout: .milliseconds(60), answers)
                let other = Blocker(value)
                // Its time passes while it is on its way.
                usleep(80_000)
                executor.queue.resume()
                try poll("it is answered") { answers.count == 1 }
                other.end()
                return answers.entries
            }
        }
        #expect(answers == [.failure(.timedOut)])
    }

    /// In a process of its own: where other tests block threads of the pool, the queue may be late. A private queue was late
    /// while a thread of it waited, so it is taken for a serial one, and passed for some rounds; on a busy machine again.
    @Test("Rule 5: a completion on a concurrent or global queue sees what it submitted to that queue")
    func ownWritesAreSeen() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 280)
            let value = QueueSafeValue(value: 0)
            try await onThreadOfItsOwn {
                for queue in [DispatchQueue(label: "own", attributes: .concurrent), .global()] {
                    for _ in 0..<3 {
                        queue.sync {
                            queue.suspend()
                            value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                            _ = value.wait.lowestPriority.get()
                            queue.resume()
                        }
                        try poll("the late command has run") { value.pendingCommandCount() == 0 }
                    }
                    // A write may be seen by luck, so most of 100 in a row are to be. On a busy machine the queue may be late
                    // again and again; it is waited for now and then all the same.
                    let seen = Log<Bool>()
                    let lateCount = Protected(0)
                    for _ in 0..<1_000 where seen.entries.suffix(100).count(where: \.self) < 90 {
                        let isOver = Door()
                        value.async(performIn: queue).lowestPriority.update { number in
                            number += 1
                            return number
                        } completion: { before in
                            value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                            let isQuick = isTooQuickToBeLate { seen.add(value.wait.lowestPriority.get() != before) }
                            if !isQuick { lateCount.write { $0 += 1 } }
                            isOver.open()
                        }
                        isOver.waitUntilOpen()
                    }
                    precondition(seen.count < 1_000 || lateCount.wrappedValue > 1, "own writes stay unseen")
                }
            }
        }
    }

    // MARK: 7, suspended

    @Test("Rule 7: nothing that was sent for begins while the value is suspended")
    func sentForAndSuspended() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        let (whileSuspended, sum) = try await onThreadOfItsOwn {
            try inTime {
                let (value, executor) = (QueueSafeValue(value: 0), QueueExecutor())
                let queue = DispatchQueue(label: "stands")
                try sendForInVain(value, executor)
                value.suspend()
                value.async(performIn: queue).lowestPriority.set { $0 += 10 }
                executor.queue.resume()
                // The task goes on, finds the value suspended, and rests.
                for _ in 0..<10 { executor.queue.sync(flags: .barrier) {} }
                queue.sync {}
                let pending = value.pendingCommandCount()
                value.resume()
                try poll("both have run") { value.pendingCommandCount() == 0 }
                return (pending, value.wait.lowestPriority.get())
            }
        }
        #expect(whileSuspended == 2)
        #expect(sum == .success(11))
    }

    @Test("Rule 7: a try right after `resume()` does not pass an equal queue")
    func tryAfterResume() throws {
        let passed = try inTime {
            let queue = DispatchQueue(label: "target")
            return (0..<40).count { _ in
                let value = QueueSafeValue(value: 0)
                value.suspend()
                value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                var answer = Answer.success(0)
                let isJudged = isTooQuickToBeLate {
                    value.resume()
                    answer = value.wait(timeout: .seconds(0)).lowestPriority.get()
                }
                return isJudged && answer == .success(0)
            }
        }
        #expect(passed == 0)
    }
}

/// Serves five commands each of a queue, of a thread and of a task, all lowest, beside a thread that loops with the
/// highest priority.
///
/// - Returns: How many were served, and in how many rounds of the loop something stood in line; at most 1,000.
private func serveLowest(besideHoldsOf microseconds: UInt64) -> (served: Int, roundsInLine: Int) {
    let value = QueueSafeValue(value: 0)
    let (served, roundsInLine) = (Protected(0), Protected(0))
    let urgent = RunningThread {
        while served.wrappedValue < 15, roundsInLine.wrappedValue < 1_000 {
            value.wait.highestPriority.set { _ in
                spin(1_000 * microseconds)
                if value.pendingCommandCount() > 0 { roundsInLine.write { $0 += 1 } }
            }
        }
    }
    let queue = DispatchQueue(label: "target")
    for _ in 0..<5 {
        let (isDone, taskIsDone) = (Door(), Door())
        value.async(performIn: queue).lowestPriority.get { _ in isDone.open() }
        isDone.waitUntilOpen()
        served.write { $0 += 1 }
        value.wait.lowestPriority.get { _ in served.write { $0 += 1 } }
        OwnThreads.run {
            await value.async.lowestPriority.set { _ in served.write { $0 += 1 } }
            taskIsDone.open()
        }
        taskIsDone.waitUntilOpen()
    }
    urgent.join()
    return (served.wrappedValue, roundsInLine.wrappedValue)
}

/// A task waits for the turn, is sent for, comes in vain, and is sent for again while its executor stands.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private func sendForInVain(
    _ value: QueueSafeValue<Int>,
    _ executor: QueueExecutor,
    timeout: DispatchTimeInterval = .never,
    _ answers: Log<Answer> = Log()
) throws {
    // When `end` of these returns, the turn is free.
    let first = HoldingThread(value)
    Task(executorPreference: executor) {
        answers.add(await value.async(timeout: timeout).lowestPriority.set { $0 += 1 })
    }
    // On a busy machine its time may be over between two looks.
    try poll("it waits") { value.pendingCommandCount() + answers.count == 1 }
    executor.suspend()
    first.end()
    let second = HoldingThread(value, .highest)
    executor.queue.resume()
    executor.suspend()
    second.end()
}
