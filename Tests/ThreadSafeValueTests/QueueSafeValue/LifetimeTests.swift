//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("Lifetime: what was accepted is done, whatever ends meanwhile")
struct LifetimeTests {
    @Test(
        "Async commands accepted before the value's owner goes run in order, as does one of a schedule that is kept"
    )
    func acceptedAsync() throws {
        let log = Log<String>()
        try inTime {
            var value: QueueSafeValue<Int>? = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            let kept = value!.async(performIn: queue).highestPriority
            let blocker = Blocker(value!)
            let group = DispatchGroup()
            for index in 0..<3 {
                group.enter()
                let commands = value!.async(performIn: queue).lowestPriority
                commands.set {
                    $0 += 1
                } completion: { result in
                    log.add("\(index) \(result)")
                    group.leave()
                }
            }
            group.enter()
            value!.async(performIn: queue).lowestPriority.set {
                $0 += 10; $1()
            } completion: { result in
                log.add("manual \(result)")
                group.leave()
            }
            value = nil
            group.enter()
            kept.set {
                $0 += 100
            } completion: { result in
                log.add("late \(result)")
                group.leave()
            }
            queue.sync {}
            log.add("blocker ends")
            blocker.end()
            group.wait()
        }
        #expect(
            log.entries == [
                "blocker ends", "late success(100)", "0 success(101)", "1 success(102)", "2 success(103)",
                "manual success(113)",
            ]
        )
    }

    @Test("Threads that wait when the value's owner goes still get their turn, as does one of a schedule that is kept")
    func acceptedWait() throws {
        let answers = Log<Result<Int, QueueSafeValueError>>()
        try inTime {
            var value: QueueSafeValue<Int>? = QueueSafeValue(value: 0)
            let kept = value!.wait.lowestPriority
            let blocker = Blocker(value!)
            let threads = (0..<3).map { _ in RunningThread { answers.add(kept.set { $0 += 1 }) } }
            try value!.waitForPending(3)
            value = nil
            blocker.end()
            for thread in threads { thread.join() }
            answers.add(kept.set { $0 += 1 })
        }
        // The threads note their answers after their turns, in any order.
        #expect(answers.entries.last == .success(4))
        #expect(answers.entries.compactMap { try? $0.get() }.sorted() == [1, 2, 3, 4])
    }

    @Test("A value that is released with 1,000 commands pending runs them all, each once, and goes away")
    func releasedWithCommandsPending() throws {
        let values = Counted.Tally()
        let captured = Counted.Tally()
        let ran = Log<Int>()
        try inTime {
            let queues = (0..<3).map { DispatchQueue(label: "\($0)") }
            let group = DispatchGroup()
            var value: QueueSafeValue<Counted>? = QueueSafeValue(value: Counted(tally: values))
            let blocker = Blocker(value!)
            for index in 0..<1_000 {
                group.enter()
                let object = Counted(index, tally: captured)
                let commands = value!.async(performIn: queues[index % 3]).priority(index % 2 == 0 ? .low : .high)
                commands.set { _ in
                    ran.add(object.id)
                } completion: { _ in
                    group.leave()
                }
            }
            value = nil
            #expect(values.alive == 1)
            #expect(captured.alive == 1_000)
            blocker.end()
            group.wait()
            try poll("all are gone") { values.alive == 0 && captured.alive == 0 }
        }
        #expect(ran.entries.sorted() == Array(0..<1_000))
    }

    @Test("A value that nobody holds runs its commands, also if a late queue comes while others are told in its place")
    func lateQueueComes() throws {
        let values = Counted.Tally()
        let answers = Log<Answer>()
        let rounds = 300
        try inTime {
            let others = (0..<4).map { DispatchQueue(label: "\($0)") }
            for round in 0..<rounds {
                let late = DispatchQueue(label: "late")
                late.suspend()
                let group = DispatchGroup()
                func submit(_ commands: AsyncCommands<Counted>, first: @escaping @Sendable () -> Void) {
                    group.enter()
                    commands.get { result in
                        first()
                        answers.add(result.map { $0.id })
                        group.leave()
                    }
                }
                // The timer of the value finds the first queue late and has blocks dispatched to the others, one by
                // one; the first of these lets the late one go on.
                do {
                    let value = QueueSafeValue(value: Counted(round, tally: values))
                    submit(value.async(performIn: late).lowestPriority) {}
                    for queue in others {
                        submit(value.async(performIn: queue).lowestPriority) {
                            if queue === others[0] { late.resume() }
                        }
                    }
                }
                group.wait()
            }
            try poll("all are gone") { values.alive == 0 }
        }
        #expect(answers.entries.count == rounds * 5)
        #expect(answers.entries.allSatisfy { if case .success = $0 { true } else { false } })
    }

    @Test("A target queue that its owner lets go of with 1,000 commands pending runs them first")
    func queueReleased() throws {
        let ran = Log<Int>()
        let isGone = Door()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let blocker = Blocker(value)
            var queue: DispatchQueue? = DispatchQueue(label: "short-lived")
            let key = DispatchSpecificKey<Last>()
            queue!.setSpecific(key: key, value: Last { isGone.open() })
            for index in 0..<1_000 { value.async(performIn: queue!).lowestPriority.set { _ in ran.add(index) } }
            queue = nil
            blocker.end()
            isGone.waitUntilOpen()
        }
        #expect(ran.entries == Array(0..<1_000))
    }

    @Test("A thread that ends while others wait leaves nothing behind, and the next one is not taken for it")
    func threadEnds() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0)
            let answers = Log<Answer>()
            // Each hands its turn on when it ends, as a command that goes on without it, or by returning.
            for round in 0..<300 {
                let threads = (0..<3).map { index in
                    RunningThread {
                        if (round + index).isMultiple(of: 3) {
                            value.async(performIn: .global()).highestPriority.set { number, done in
                                number += 1
                                DispatchQueue.global().async { done() }
                            } completion: {
                                answers.add($0)
                            }
                        } else {
                            answers.add(value.wait.lowestPriority.set { $0 += 1 })
                        }
                    }
                }
                for thread in threads { thread.join() }
            }
            try poll("all have answered") { answers.count == 900 }
            return answers.entries
        }
        #expect(answers.compactMap { try? $0.get() }.sorted() == Array(1...900))
    }

    @Test("A process ends in good order with commands pending, threads parked, a task waiting and a timer set")
    func processEnds() async {
        await #expect(processExitsWith: .exitCode(7)) {
            giveUp(afterSeconds: 120)
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "suspended")
            queue.suspend()
            for _ in 0..<1_000 { value.async(performIn: queue).highestPriority.set { $0 += 1 } }
            let blocker = Blocker(value)
            for _ in 0..<1_000 { value.async(performIn: .utility).lowPriority.set { $0 += 1 } }
            for _ in 0..<4 { _ = RunningThread { value.wait.mediumPriority.set { $0 += 1 } } }
            let timed = value.wait(timeout: .seconds(3_600)).mediumPriority
            _ = RunningThread { timed.set { $0 += 1 } }
            OwnThreads.run { _ = await value.async.lowestPriority.get() }
            try value.waitForPending(2_006)
            withExtendedLifetime(blocker) { exit(7) }
        }
    }
}
