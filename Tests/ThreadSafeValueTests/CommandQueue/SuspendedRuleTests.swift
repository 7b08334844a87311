//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

/// A queue that is late may change an answer, as one of a busy machine is now and then: a test judges quick rounds only.
@Suite("The rules of the line: suspended")
struct SuspendedRuleTests {
    @Test("Rule 7: nothing begins whose handle says that it waits after `suspend()` has returned")
    func nothingBegins() throws {
        try inTime {
            let queues = (0..<3).map { DispatchQueue(label: "\($0)") }
            for round in 0..<20 {
                let value = QueueSafeValue(value: 0)
                let (begun, begin) = (Log<Int>(), Door())
                let group = DispatchGroup()
                let handles = (0..<150).map { index in
                    group.enter()
                    return value.async(performIn: queues[index % 3]).lowestPriority.set { _ in
                        begun.add(index)
                        if index == round { begin.open() }
                        group.leave()
                    }
                }
                // Amid those that run.
                begin.waitUntilOpen()
                value.suspend()
                let waiting = Set(handles.indices.filter { handles[$0].state == .waiting })
                for queue in queues { queue.sync {} }
                #expect(value.wait(timeout: .milliseconds(1)).highestPriority.get() == .failure(.timedOut))
                for queue in queues { queue.sync {} }
                #expect(waiting.isDisjoint(with: begun.entries))
                // A command that its block has claimed, and gives back as the value is suspended, waits again by now.
                #expect(value.pendingCommandCount() == handles.count { $0.state == .waiting })
                value.resume()
                group.wait()
                #expect(begun.entries.sorted() == Array(0..<150))
            }
        }
    }

    @Test("Rule 7: `resume()` lets all go that waits, the most urgent first, in the order that they came")
    func resumeInOrder() throws {
        let ran = Log<Int>()
        let priorities = (0..<100).map { CommandPriority.allCases[$0 * 7 % 5] }
        try inTime {
            let value = QueueSafeValue(value: 0)
            let group = DispatchGroup()
            let queue = DispatchQueue(label: "target")
            value.suspend()
            for index in priorities.indices {
                group.enter()
                value.async(performIn: queue).priority(priorities[index]).set { _ in
                    ran.add(index)
                    group.leave()
                }
            }
            let urgent = RunningThread { value.wait.highestPriority.set { _ in ran.add(-1) } }
            try value.waitForPending(101)
            #expect(ran.count == 0)
            value.resume()
            urgent.join()
            group.wait()
        }
        let expected = CommandPriority.allCases.reversed().flatMap { level in
            priorities.indices.filter { priorities[$0] == level }
        }
        #expect(ran.entries.filter { $0 >= 0 } == expected)
        #expect(ran.entries.contains(-1))
    }

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
