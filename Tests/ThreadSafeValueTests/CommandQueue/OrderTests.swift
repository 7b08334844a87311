//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

@Suite("Order")
struct OrderTests {
    @Test("Waiting threads and async commands for several queues run in one order")
    func oneOrder() throws {
        var random = SeededRandom()
        for _ in 0..<10 {
            let priorities = (0..<40).map { _ in CommandPriority.allCases.randomElement(using: &random)! }
            let places = (0..<40).map { _ in Int.random(in: 0..<5, using: &random) }
            let log = Log<Int>()
            try inTime {
                let value = QueueSafeValue(value: 0)
                let queues = (0..<3).map { DispatchQueue(label: "\($0)") }
                let blocker = Blocker(value)
                let group = DispatchGroup()
                for index in priorities.indices {
                    group.enter()
                    if places[index] < queues.count {
                        value.async(performIn: queues[places[index]]).priority(priorities[index]).set { _ in
                            log.add(index)
                            group.leave()
                        }
                    } else {
                        let commands = value.wait.priority(priorities[index])
                        Thread {
                            commands.set { _ in
                                log.add(index)
                                group.leave()
                            }
                        }.start()
                    }
                    // The next is submitted when this one stands in line.
                    try value.waitForPending(index + 1)
                }
                blocker.end()
                group.wait()
            }
            // A queue that is late loses its place among the others, but its own commands keep their order.
            for place in Set(places) {
                let expected = CommandPriority.allCases.reversed().flatMap { level in
                    priorities.indices.filter { priorities[$0] == level && places[$0] == place }
                }
                #expect(log.entries.filter { places[$0] == place } == expected)
            }
        }
    }

    @Test("A command that arrives while others run goes before all lower ones that wait")
    func overtakes() throws {
        let log = Log<String>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            let blocker = Blocker(value)
            let group = DispatchGroup()
            let thread = RunningThread {
                value.wait.lowestPriority.set { _ in
                    log.add("thread")
                    group.enter()
                    value.async(performIn: queue).highestPriority.set { _ in
                        log.add("late")
                        group.leave()
                    }
                }
            }
            try value.waitForPending(1)
            group.enter()
            value.async(performIn: queue).lowestPriority.set { _ in
                log.add("early")
                group.leave()
            }
            blocker.end()
            thread.join()
            group.wait()
        }
        #expect(log.entries == ["thread", "late", "early"])
    }

    @Test("A thread does not pass an async command that waits for its queue to start")
    func asyncIsPassedForABoundedTime() throws {
        try inTime {
            // Where the machine is so slow that the queue is late, it is passed, and all is done again.
            var order: [String] = []
            while order != ["async", "wait"] {
                let log = Log<String>()
                let value = QueueSafeValue(value: 0)
                let queue = DispatchQueue(label: "target")
                queue.suspend()
                value.async(performIn: queue).lowestPriority.set { _ in log.add("async") }
                let thread = RunningThread { value.wait.lowestPriority.set { _ in log.add("wait") } }
                while value.pendingCommandCount() < 2, log.entries.isEmpty { usleep(10) }
                queue.resume()
                thread.join()
                queue.sync {}
                order = log.entries
            }
        }
    }
}
