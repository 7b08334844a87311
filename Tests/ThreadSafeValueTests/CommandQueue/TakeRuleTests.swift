//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

/// A queue that is late may change an answer, as one of a busy machine is now and then: a test judges quick rounds only.
@Suite("The rules of the line: take and wait")
struct TakeRuleTests {
    @Test("Rule 1: a thread that submits and then waits sees what it submitted", arguments: [false, true])
    func ownCommandsAreSeen(besideThread: Bool) throws {
        let unseen = try inTime {
            let queue = DispatchQueue(label: "target")
            var unseen = 0
            for _ in 0..<40 {
                let value = QueueSafeValue(value: 0)
                value.suspend()
                let equal = besideThread ? RunningThread { value.wait.lowestPriority.get { _ in } } : nil
                if besideThread { try value.waitForPending(1) }
                value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                var answer = Answer.success(0)
                let isJudged = isTooQuickToBeLate {
                    value.resume()
                    answer = value.wait.lowestPriority.get()
                }
                if isJudged, answer != .success(1) { unseen += 1 }
                equal?.join()
            }
            return unseen
        }
        #expect(unseen == 0)
    }

    /// Nobody is in line beside the command of the queue, which so keeps its place.
    @Test("Rule 1: a free turn that a queue is to come for is taken by who is more urgent, and by no equal")
    func urgentNewcomer() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "stands")
            queue.suspend()
            value.async(performIn: queue).mediumPriority.set { $0 += 1 }
            let atOnce = value.wait(timeout: .seconds(0))
            let answers = [
                atOnce.lowPriority.get(), atOnce.mediumPriority.get(), atOnce.highPriority.set { $0 += 10 },
            ]
            queue.resume()
            queue.sync {}
            return answers + [atOnce.lowestPriority.get()]
        }
        #expect(answers == [.failure(.timedOut), .failure(.timedOut), .success(10), .success(11)])
    }

    @Test("Rule 2: threads that sleep until the turn is there are all woken")
    func sleepersAreWoken() throws {
        let sum = try inTime {
            let value = QueueSafeValue(value: 0)
            for _ in 0..<10 {
                let holder = HoldingThread(value)
                let threads = (0..<16).map { index in
                    RunningThread {
                        value.wait.priority(CommandPriority.allCases[index % 5]).set { $0 += 1 }
                    }
                }
                try value.waitForPending(16)
                holder.end()
                for thread in threads { thread.join() }
            }
            return value.wait.lowestPriority.get()
        }
        #expect(sum == .success(160))
    }

    @Test("Rule 2: no wake-up is lost among many threads that come and go")
    func noWakeUpIsLost() throws {
        let sum = try inTime {
            let value = QueueSafeValue(value: 0)
            onThreads(24) { index in
                for round in 0..<100 {
                    value.wait.lowestPriority.set {
                        $0 += 1
                        // With the turn: others find it taken, and go to sleep.
                        if round % 10 == index % 10 { usleep(20) }
                    }
                }
            }
            return value.wait.lowestPriority.get()
        }
        #expect(sum == .success(2_400))
    }
}
