//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("The rules of the line: late")
struct LateRuleTests {
    @Test("Rule 5: a queue that stands stalls a thread for a moment only, and its command runs when it comes back")
    func standingQueue() throws {
        let log = Log<String>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "stands")
            queue.suspend()
            value.async(performIn: queue).lowestPriority.set { _ in log.add("queue") }
            value.wait.lowestPriority.set { _ in log.add("thread") }
            queue.resume()
            queue.sync {}
            try poll("all is done") { value.pendingCommandCount() == 0 }
            value.wait.lowestPriority.set { _ in log.add("thread again") }
        }
        #expect(log.entries == ["thread", "queue", "thread again"])
    }

    /// One after the other they would take 10 s.
    @Test("Rule 5: hundreds of queues that stand are late together")
    func standingQueues() throws {
        let (answer, sum) = try inTime {
            let value = QueueSafeValue(value: 0)
            let queues = (0..<2_000).map { DispatchQueue(label: "\($0)") }
            for queue in queues {
                queue.suspend()
                value.async(performIn: queue).highestPriority.set { $0 += 1 }
            }
            return try answers(of: value, behind: queues)
        }
        #expect(answer == .success(0))
        #expect(sum == .success(2_000))
    }

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
            return try answers(of: value, behind: queues)
        }
        #expect(answer == .success(0))
        #expect(sum == .success(2_000))
    }

    @Test("Rule 5: what a change puts in line does not wait for a queue that stands", arguments: [false, true])
    func standingQueueBeforeCondition(isTask: Bool) async throws {
        let value = QueueSafeValue(value: 0)
        let (isTested, isDone) = (Door(), Door())
        let queue = DispatchQueue(label: "stands")
        queue.suspend()
        let isMet: @Sendable (Int) -> Bool = { number in
            isTested.open()
            return number > 0
        }
        let task = Task {
            if isTask { await value.async.lowestPriority.set(when: isMet) { $0 += 1 } }
            isDone.open()
        }
        try await onThreadOfItsOwn {
            try inTime {
                let thread = RunningThread {
                    if isTask { return }
                    value.wait.lowestPriority.set(when: isMet) { $0 += 1 }
                }
                isTested.waitUntilOpen()
                value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                value.wait.highestPriority.set { $0 += 1 }
                thread.join()
                isDone.waitUntilOpen()
                #expect(value.wait.lowestPriority.get() == .success(2))
                queue.resume()
            }
        }
        await task.value
    }

    @Test("Rule 5: a late queue that comes back does not wait for a more urgent one that stands")
    func standingQueueBeforeLateOne() throws {
        try inTime {
            let value = QueueSafeValue(value: 0)
            let (late, standing) = (DispatchQueue(label: "late"), DispatchQueue(label: "stands"))
            late.suspend()
            standing.suspend()
            let isDone = Door()
            value.async(performIn: late).lowestPriority.set {
                $0 += 1
            } completion: { _ in
                isDone.open()
            }
            // It is late now.
            value.wait.lowestPriority.set { $0 += 1 }
            value.async(performIn: standing).highestPriority.set { $0 += 1 }
            late.resume()
            isDone.waitUntilOpen()
            standing.resume()
        }
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
}

/// Waits for a value behind queues that stand.
///
/// - Returns: What a thread was answered, and what another one is when the queues have resumed and all is done.
private func answers(of value: QueueSafeValue<Int>, behind queues: [DispatchQueue]) throws -> (Answer, Answer) {
    let answer = value.wait(timeout: .seconds(9)).lowestPriority.get()
    for queue in queues { queue.resume() }
    try poll("all are done") { value.pendingCommandCount() == 0 }
    return (answer, value.wait.lowestPriority.get())
}
