//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

/// What goes wrong around a value. More of it, one mistake at a time, is in `QueueSafeValueMistakeTests`.
@Suite("QueueSafeValue, faults")
struct FaultTests {
    // MARK: `done`

    @Test("`done` called on another thread, 1,000 times, ends each command once")
    func doneElsewhere() throws {
        let (answers, completions) = try inTime {
            let value = QueueSafeValue(value: 0)
            let completions = Log<Answer>()
            let others = [DispatchQueue.global(), DispatchQueue(label: "serial"), .global(qos: .background)]
            let group = DispatchGroup()
            var answers: [Answer] = []
            for round in 0..<500 {
                group.enter()
                value.async(performIn: others[(round + 1) % 3]).lowestPriority.set { number, done in
                    number += 1
                    others[round % 3].async { done() }
                } completion: { result in
                    completions.add(result)
                    group.leave()
                }
                answers.append(
                    value.wait.highestPriority.set { number, done in
                        number += 1
                        others[round % 3].async { done() }
                    }
                )
            }
            group.wait()
            return (answers, completions.entries)
        }
        let numbers = (answers + completions).compactMap { try? $0.get() }
        #expect(numbers.sorted() == Array(1...1_000))
    }

    @Test("`done` called late ends its command then, and until then nobody else has the turn")
    func doneLate() throws {
        let log = Log<String>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let blocker = Blocker(value)
            let thread = RunningThread { value.wait.highestPriority.set { _ in log.add("next") } }
            try value.waitForPending(1)
            for _ in 0..<20 {
                let answer = value.wait(timeout: .milliseconds(1)).highestPriority.get()
                if answer != .failure(.timedOut) { log.add("passed: \(answer)") }
            }
            log.add("done")
            blocker.end()
            thread.join()
        }
        #expect(log.entries == ["done", "next"])
    }

    // MARK: The end of a value, a queue, a thread, a process

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

    @Test("A target queue that its owner lets go of with 1,000 commands pending runs them first")
    func queueReleased() throws {
        let ran = Log<Int>()
        let isGone = Door()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let blocker = Blocker(value)
            var queue: DispatchQueue? = DispatchQueue(label: "short-lived")
            let key = DispatchSpecificKey<AtEnd>()
            queue!.setSpecific(key: key, value: AtEnd { isGone.open() })
            for index in 0..<1_000 { value.async(performIn: queue!).lowestPriority.set { _ in ran.add(index) } }
            queue = nil
            blocker.end()
            isGone.waitUntilOpen()
        }
        #expect(ran.entries == Array(0..<1_000))
    }

    @Test("A busy target queue holds up nobody but its own commands")
    func queueBusy() throws {
        let log = Log<String>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "busy")
            let isBusy = Door()
            let mayEnd = Door()
            queue.async {
                isBusy.open()
                mayEnd.waitUntilOpen()
            }
            isBusy.waitUntilOpen()
            for _ in 0..<10 { value.async(performIn: queue).highestPriority.set { $0 += 1_000 } }
            let other = DispatchQueue(label: "other")
            let group = DispatchGroup()
            for _ in 0..<10 {
                group.enter()
                value.async(performIn: other).lowestPriority.set {
                    $0 += 1
                    group.leave()
                }
                value.wait.lowestPriority.set { $0 += 1 }
            }
            group.wait()
            log.add("\(value.wait.lowestPriority.get())")
            mayEnd.open()
            queue.sync {}
            log.add("\(value.wait.lowestPriority.get())")
        }
        #expect(log.entries == ["success(20)", "success(10020)"])
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

    // MARK: Re-entrancy

    @Test("A command at any depth inside commands of other values waits for none of them, and for itself neither")
    func reentrancyAtAnyDepth() throws {
        let answers = try inTime {
            let values = (0..<30).map { QueueSafeValue(value: $0) }
            let answers = Log<Answer>()
            @Sendable func descend(to depth: Int) {
                for value in values[..<depth] {
                    answers.add(value.wait.highestPriority.get())
                    answers.add(value.wait(timeout: .seconds(60)).lowestPriority.set { $0 += 1 })
                }
                if depth < values.count {
                    let wait = values[depth].wait.lowestPriority
                    switch depth % 4 {
                    case 0: wait.set { _ in descend(to: depth + 1) }
                    case 1: wait.get { _ in descend(to: depth + 1) }
                    case 2: _ = wait.map { _ in descend(to: depth + 1) }
                    default:
                        wait.set { _, done in
                            descend(to: depth + 1)
                            done()
                        }
                    }
                }
            }
            let end = Door()
            values[0].async(performIn: DispatchQueue(label: "outermost")).lowestPriority.set { _ in
                descend(to: 1)
                end.open()
            }
            end.waitUntilOpen()
            return answers.entries
        }
        #expect(answers == Array(repeating: .failure(.reentrantCommand), count: 30 * 31))
    }

    // MARK: No room

    @Test("A command that a task awaits is refused by a full value, and taken once there is room")
    func awaitedOnFullValue() async {
        let value = QueueSafeValue(value: 0, pendingCommandLimit: 0)
        value.suspend()
        #expect(await value.async.highestPriority.set { $0 += 1 } == .failure(.commandQueueFull))
        let body = await value.async.highestPriority.set { number in
            await Task.yield()
            number += 1
        }
        #expect(body == .failure(.commandQueueFull))
        value.resume()
        // The turn is free: a command that does not wait needs no room.
        #expect(await value.async.highestPriority.set { $0 += 1 } == .success(1))
    }

    // MARK: Very many commands

    @Test("100,000 pending commands are cancelled by four threads: each is told once, and nothing is left")
    func manyCancelled() throws {
        let captured = Counted.Tally()
        let told = Log<Int>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let queues = (0..<3).map { DispatchQueue(label: "\($0)") }
            let blocker = Blocker(value)
            let group = DispatchGroup()
            let handles = (0..<100_000).map { index in
                let object = Counted(index, tally: captured)
                group.enter()
                return value.async(performIn: queues[index % 3]).priority(CommandPriority.allCases[index % 5]).set {
                    $0 += 1
                } completion: { result in
                    if result == .failure(.cancelled) { told.add(object.id) }
                    group.leave()
                }
            }
            #expect(value.pendingCommandCount == 100_000)
            onThreads(4) { thread in
                // A quarter each: two from its front, two from its back.
                let quarter = stride(from: thread, to: 100_000, by: 4)
                for index in thread < 2 ? Array(quarter) : quarter.reversed() {
                    if !handles[index].cancel() { told.add(-1) }
                }
            }
            group.wait()
            #expect(value.pendingCommandCount == 0)
            blocker.end()
            #expect(value.wait.lowestPriority.get() == .success(0))
        }
        #expect(told.entries.sorted() == Array(0..<100_000))
        try poll("what they captured is gone") { captured.alive == 0 }
    }

    @Test("100,000 commands of eight threads time out while another has the turn, and leave no trace in the line")
    func manyTimedOut() throws {
        let timedOut = Log<Int>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let blocker = Blocker(value)
            onThreads(8) { index in
                var count = 0
                for round in 0..<12_500 {
                    let wait = value.wait(timeout: .nanoseconds(round % 50)).priority(.allCases[(round + index) % 5])
                    if wait.set(completion: { $0 += 1 }) == .failure(.timedOut) { count += 1 }
                }
                timedOut.add(count)
            }
            #expect(value.pendingCommandCount == 0)
            blocker.end()
            #expect(value.wait.lowestPriority.get() == .success(0))
        }
        #expect(timedOut.entries == Array(repeating: 12_500, count: 8))
    }

    #if os(Linux) && canImport(Glibc)
    @Test("A million pending commands take at most 160 bytes each, all run, and the memory is given back")
    func million() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 300)
            let count = isSanitized ? 100_000 : 1_000_000
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            // What the first command sets up, for all, is not counted.
            value.async(performIn: queue).lowestPriority.set { $0 += 1 }
            queue.sync {}
            let before = try residentBytes()
            let blocker = Blocker(value)
            for _ in 1..<count { value.async(performIn: queue).lowestPriority.set { $0 += 1 } }
            let pending = try residentBytes() - before
            let end = Door()
            value.async(performIn: queue).lowestPriority.get { number in
                #expect(number == .success(count))
                end.open()
            }
            blocker.end()
            end.waitUntilOpen()
            queue.sync {}
            let after = try residentBytes() - before
            FileHandle.standardError.write(Data("\(count) commands, \(pending / count) bytes each".utf8))
            if !isSanitized {
                #expect(pending <= 160 * count, "\(pending / count) bytes each")
                #expect(after < 8 << 20, "\(after) bytes remain")
            }
        }
        print("pending:", result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? "no answer")
    }
    #endif
}

/// Says when it goes away.
private final class AtEnd: Sendable {
    private let tell: @Sendable () -> Void

    init(_ tell: @escaping @Sendable () -> Void) {
        self.tell = tell
    }

    deinit {
        tell()
    }
}
