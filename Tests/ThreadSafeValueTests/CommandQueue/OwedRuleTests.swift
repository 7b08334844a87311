//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("The rules of the line: owed")
struct OwedRuleTests {
    /// Each time that the other has the turn it looks whether somebody waits, so rounds are counted and no time.
    @Test("Rule 4: a waiting thread gets its turn beside one that comes again and again")
    func threadIsServed() throws {
        let (served, roundsInLine) = try inTime {
            let value = QueueSafeValue(value: 0)
            let isOver = Protected(false)
            let served = Protected(0)
            let waiting = RunningThread {
                for _ in 0..<10 where !isOver.wrappedValue {
                    value.wait.lowestPriority.set { _ in
                        if !isOver.wrappedValue { served.write { $0 += 1 } }
                    }
                }
                isOver.wrappedValue = true
            }
            var roundsInLine = 0
            while !isOver.wrappedValue, roundsInLine < 1_000 {
                value.wait.lowestPriority.set { _ in
                    usleep(400)
                    if value.pendingCommandCount() > 0 { roundsInLine += 1 }
                }
            }
            isOver.wrappedValue = true
            waiting.join()
            return (served.wrappedValue, roundsInLine)
        }
        #expect(served == 10)
        #expect(roundsInLine < 500)
    }

    @Test("Rule 4: a free turn that is owed to a task that came in vain is taken by no equal")
    func taskIsOwed() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        let isOwed = try await onThreadOfItsOwn {
            try inTime {
                // Again, where the machine is so slow that the task is late.
                (0..<20).contains { _ in
                    let (value, executor) = (QueueSafeValue(value: 0), QueueExecutor())
                    let first = Blocker(value)
                    Task(executorPreference: executor) { await value.async.lowestPriority.set { $0 += 10 } }
                    while value.pendingCommandCount() < 1 { usleep(10) }
                    // The task rests, is sent for, and comes when another command has the turn. It is sent for again.
                    executor.suspend()
                    first.end()
                    let second = Blocker(value)
                    executor.queue.resume()
                    executor.suspend()
                    second.end()
                    let isOwed = value.wait(timeout: .nanoseconds(0)).lowestPriority.get() == .failure(.timedOut)
                    executor.queue.resume()
                    while value.wait.lowestPriority.get() != .success(10) { usleep(10) }
                    return isOwed
                }
            }
        }
        #expect(isOwed)
    }

    @Test("Rule 4: a queue and a task get their turns beside threads that never stop")
    func laneIsServed() throws {
        let served = try inTime {
            let value = QueueSafeValue(value: 0)
            let rounds = Protected(0)
            let (ofQueue, ofTask) = (Protected(0), Protected(0))
            let hogs = (0..<2).map { _ in
                RunningThread {
                    while ofQueue.wrappedValue + ofTask.wrappedValue < 20, rounds.wrappedValue < 20_000 {
                        value.wait.lowestPriority.set { _ in usleep(50) }
                        rounds.write { $0 += 1 }
                    }
                }
            }
            let queue = DispatchQueue(label: "target")
            let last = RunningThread {
                for _ in 0..<10 {
                    let end = Door()
                    value.async(performIn: queue).lowestPriority.get { _ in
                        ofQueue.write { $0 += 1 }
                        end.open()
                    }
                    end.waitUntilOpen()
                }
            }
            OwnThreads.run {
                for _ in 0..<10 { await value.async.lowestPriority.set { _ in ofTask.write { $0 += 1 } } }
            }
            for hog in hogs { hog.join() }
            // When they stop after all, it is too late.
            let served = rounds.wrappedValue < 20_000 ? ofQueue.wrappedValue + ofTask.wrappedValue : 0
            last.join()
            return served
        }
        #expect(served == 20)
    }

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
