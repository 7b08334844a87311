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
                let value = QueueSafeValue(value: 0, policy: .unbounded)
                let queues = (0..<3).map { DispatchQueue(label: "\($0)", attributes: $0 == 2 ? .concurrent : []) }
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
            let expected = CommandPriority.allCases.reversed().flatMap { level in
                priorities.indices.filter { priorities[$0] == level }
            }
            #expect(log.entries == expected)
        }
    }

    @Test("A command that arrives while others run goes before all lower ones that wait")
    func overtakes() throws {
        let log = Log<String>()
        try inTime {
            let value = QueueSafeValue(value: 0, policy: .unbounded)
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

    @Test("Nobody of a lower priority ever passes a waiting command, however long equals may")
    func neverPassedByLower() throws {
        var policy = HandoffPolicy()
        policy.barging = 600_000_000_000
        policy.keeping = 600_000_000_000
        try hammer(
            rounds: 60,
            policy,
            waiter: { $0.wait.highestPriority },
            newcomer: { $0.wait.lowestPriority }
        )
    }

    @Test("With a bound of zero, equals don't either")
    func strictlyFirst() throws {
        try hammer(
            rounds: 60,
            .unbounded,
            waiter: { $0.wait.lowestPriority },
            newcomer: { $0.wait.lowestPriority }
        )
    }

    @Test("An equal that begins 0.1 ms for each waiting thread after a command has arrived does not barge past it")
    func passedForABoundedTime() throws {
        let bound = HandoffPolicy().barging
        #expect(bound == 100_000)
        var policy = HandoffPolicy.unbounded
        policy.barging = bound
        try hammer(
            rounds: 60,
            policy,
            waiter: { $0.wait.lowestPriority },
            newcomer: { $0.wait.lowestPriority },
            // The other newcomer may wait too.
            after: 2 * bound
        )
    }

    @Test("Nor does it pass an async command that waits for its queue to start")
    func asyncIsPassedForABoundedTime() throws {
        let log = Log<String>()
        try inTime {
            let value = QueueSafeValue(value: 0, policy: .unbounded)
            let queue = DispatchQueue(label: "target")
            queue.suspend()
            value.async(performIn: queue).lowestPriority.set { _ in log.add("async") }
            let thread = RunningThread { value.wait.lowestPriority.set { _ in log.add("wait") } }
            try value.waitForPending(2)
            queue.resume()
            thread.join()
        }
        #expect(log.entries == ["async", "wait"])
    }

    /// One command waits while two threads run others as fast as they can.
    ///
    /// No newcomer that begins after the waiting one was seen in line may run before it; or, with a bound, that long
    /// after. The clock is read before the newcomer's command begins, and after the waiting one was seen, so a slow
    /// machine can only hide a mistake.
    private func hammer(
        rounds: Int,
        _ policy: HandoffPolicy,
        waiter: @escaping @Sendable (QueueSafeValue<Int>) -> WaitCommands<Int>,
        newcomer: @escaping @Sendable (QueueSafeValue<Int>) -> WaitCommands<Int>,
        after bound: UInt64? = nil
    ) throws {
        for round in 0..<rounds {
            // `nil` is the waiting command itself.
            let (seen, log) = try inTime {
                let value = QueueSafeValue(value: 0, policy: policy)
                let log = Log<(begin: UInt64, ran: UInt64)?>()
                let ran = Door()
                let blocker = Blocker(value)
                let first = RunningThread {
                    waiter(value).set { _ in
                        log.add(nil)
                        ran.open()
                    }
                }
                try value.waitForPending(1)
                let seen = now()
                let gate = StartGate(count: 3)
                let others = (0..<2).map { _ in
                    RunningThread {
                        gate.pass()
                        for _ in 0..<(round % 2 == 0 ? 100 : 10) {
                            let begin = now()
                            newcomer(value).set { number in
                                number += 1
                                log.add((begin, now()))
                                // Long enough for the next newcomer to find the turn taken.
                                while now() < begin + 20_000 {}
                            }
                        }
                    }
                }
                gate.pass()
                blocker.end()
                ran.waitUntilOpen()
                first.join()
                for thread in others { thread.join() }
                return (seen, log.entries)
            }
            let passing = log.prefix { $0 != nil }.compactMap { $0 }
            let limit = seen + (bound ?? 0)
            #expect(
                passing.allSatisfy { $0.begin <= limit },
                "Passed by \(passing.map { Int64($0.begin) - Int64(seen) }) ns"
            )
        }
    }
}
