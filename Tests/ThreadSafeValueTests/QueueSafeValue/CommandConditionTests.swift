//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("Commands that wait for a condition")
struct CommandConditionTests {
    private struct Refused: Error {}

    @Test func `A condition that is met already is no wait`() throws {
        let value = QueueSafeValue(value: 1)
        #expect(value.wait.lowestPriority.set(when: { $0 > 0 }) { $0 -= 1 } == .success(0))
        #expect(value.wait(timeout: .seconds(0)).lowestPriority.set(when: { $0 == 0 }) { $0 = 7 } == .success(7))
        #expect(value.wait.lowestPriority.update(when: { $0 == 7 }) { "\($0)" } == .success("7"))
        let thrown = value.wait.lowestPriority.set(when: { $0 == 7 }) { number in
            number = 8
            throw Refused()
        }
        #expect(thrown == .failure(.unexpected(error: Refused())))
        #expect(value.wait.lowestPriority.get() == .success(8))
    }

    /// The commands are in one batch, and the second one is not a change.
    @Test("The change of a command is heard of before the next command of its block begins", arguments: [false, true])
    func changeInBatch(isManual: Bool) throws {
        let answer = try inTime {
            let (value, isTested) = (QueueSafeValue(value: 0), Door())
            let answers = Log<Answer>()
            let waiter = RunningThread {
                answers.add(
                    value.wait.highestPriority.set(when: { number in
                        isTested.open()
                        return number == 1
                    }) { $0 = 10 }
                )
            }
            isTested.waitUntilOpen()
            value.suspend()
            let commands = value.async(performIn: DispatchQueue(label: "batch")).lowestPriority
            commands.set { $0 += 1 }
            if isManual {
                commands.get { _, done in DispatchQueue.global().async { done() } }
            } else {
                commands.set { $0 += 1 }
            }
            value.resume()
            waiter.join()
            return answers.entries
        }
        #expect(answer == [.success(10)])
    }

    enum Change: CaseIterable, Sendable {
        case wait
        case manual
        case async
        case asyncManual
        case awaited
        case awaitedBody
        case throwing
    }

    @Test("A change of any kind is heard of by a thread that waits", arguments: Change.allCases)
    func change(_ change: Change) async throws {
        let value = QueueSafeValue(value: 0)
        let log = Log<Int>()
        let waiter = RunningThread {
            _ = value.wait.lowestPriority.set(when: { number in
                log.add(number)
                return number > 1
            }) { $0 += 10 }
        }
        // It has tested, and waits or is about to.
        try await onThreadOfItsOwn { try poll("a first test") { log.count == 1 } }
        for _ in 0..<2 {
            switch change {
            case .wait: value.wait.highestPriority.set { $0 += 1 }
            case .manual:
                value.wait.highestPriority.set { number, done in
                    number += 1
                    DispatchQueue.global().async { done() }
                }
            case .async: value.async(performIn: .utility).lowestPriority.set { $0 += 1 }
            case .asyncManual:
                value.async(performIn: .utility).lowestPriority.set { number, done in
                    number += 1
                    DispatchQueue.global().async { done() }
                }
            case .awaited: await value.async.lowestPriority.set { $0 += 1 }
            case .awaitedBody:
                await value.async.lowestPriority.set { number in
                    await Task.yield()
                    number += 1
                }
            case .throwing:
                value.wait.highestPriority.set { number in
                    number += 1
                    throw Refused()
                }
            }
        }
        try await onThreadOfItsOwn { try inTime { waiter.join() } }
        #expect(await value.async.lowestPriority.get() == .success(12))
    }

    @Test func `Reading is no change: the condition is not tested again`() throws {
        let tests = try inTime {
            let value = QueueSafeValue(value: 0)
            let tests = Log<Int>()
            let waiter = RunningThread {
                _ = value.wait.lowestPriority.set(when: { number in
                    tests.add(number)
                    return number > 1
                }) { $0 += 1 }
            }
            for count in 1...2 {
                // Also when it has heard of a change.
                try poll("a test") { tests.count == count }
                for _ in 0..<100 { _ = value.wait.lowestPriority.get() }
                value.wait.lowestPriority.set { $0 += 1 }
            }
            waiter.join()
            return tests.entries
        }
        #expect(tests == [0, 1, 2])
    }

    @Test func `Two that wait for what never comes do not keep each other busy`() throws {
        let tests = try inTime {
            let value = QueueSafeValue(value: 0)
            let tests = Log<Int>()
            onThreads(2) { _ in
                let answer = value.wait(timeout: .milliseconds(50)).lowestPriority.set(when: { number in
                    tests.add(number)
                    return number > 0
                }) { $0 += 1 }
                if answer != .failure(.timedOut) { tests.add(-1) }
            }
            return tests.entries
        }
        // At the beginning, and at the end of the time.
        #expect(tests.count <= 4)
        #expect(tests.allSatisfy { $0 == 0 })
    }

    @Test("Takers and makers, threads and tasks: nothing is lost, nothing is taken twice")
    func takersAndMakers() async throws {
        let value = QueueSafeValue(value: [Int]())
        let taken = Log<Int>()
        let group = DispatchGroup()
        for taker in 0..<4 {
            group.enter()
            let take: @Sendable (Result<Int, QueueSafeValueError>) -> Void = { result in
                if case .success(let number) = result { taken.add(number) }
            }
            if taker % 2 == 0 {
                Thread {
                    for _ in 0..<250 {
                        take(value.wait.lowestPriority.update(when: { !$0.isEmpty }) { $0.removeFirst() })
                    }
                    group.leave()
                }.start()
            } else {
                OwnThreads.run {
                    for _ in 0..<250 {
                        take(await value.async.lowestPriority.update(when: { !$0.isEmpty }) { $0.removeFirst() })
                    }
                    group.leave()
                }
            }
        }
        onThreads(2) { maker in
            for number in 0..<500 {
                if number % 2 == 0 {
                    value.wait.lowestPriority.set { $0.append(maker * 500 + number) }
                } else {
                    value.async(performIn: .utility).lowestPriority.set { $0.append(maker * 500 + number) }
                }
            }
        }
        try await onThreadOfItsOwn { try inTime { group.wait() } }
        #expect(taken.entries.sorted() == Array(0..<1_000))
    }

    @Test func `A time-out is for all of the wait, and changes nothing`() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0)
            let answers = Log<Answer>()
            let isOver = Protected(false)
            let busy = RunningThread {
                while !isOver.wrappedValue { value.wait.lowestPriority.set { $0 = 0 } }
            }
            answers.add(value.wait(timeout: .milliseconds(30)).lowestPriority.set(when: { $0 > 0 }) { $0 = 100 })
            isOver.write(true)
            busy.join()
            answers.add(value.wait(timeout: .milliseconds(1)).lowestPriority.set(when: { $0 > 0 }) { $0 = 100 })
            answers.add(value.wait(timeout: .seconds(0)).lowestPriority.set(when: { $0 > 0 }) { $0 = 100 })
            let blocker = Blocker(value)
            answers.add(value.wait(timeout: .milliseconds(1)).lowestPriority.set(when: { $0 == 0 }) { $0 = 100 })
            answers.add(value.wait(timeout: .seconds(0)).lowestPriority.set(when: { $0 == 0 }) { $0 = 100 })
            blocker.end()
            answers.add(value.wait.lowestPriority.get())
            return answers.entries
        }
        #expect(answers == Array(repeating: .failure(.timedOut), count: 5) + [.success(0)])
    }

    @Test func `Its time counts from the call, though the first test takes longer`() throws {
        let value = QueueSafeValue(value: 0)
        let tests = Log<Int>()
        let answer = try inTime {
            let changer = RunningThread {
                try? poll("a first test") { tests.count == 1 }
                value.wait.highestPriority.set { $0 += 1 }
            }
            let end = DispatchTime.now() + .milliseconds(200)
            let answer = value.wait(timeout: .milliseconds(100)).lowestPriority.set(when: { number in
                tests.add(number)
                while DispatchTime.now() < end {}
                return number > 0
            }) { $0 += 10 }
            changer.join()
            return answer
        }
        #expect(answer == .failure(.timedOut))
    }

    @Test func `Inside a command of the same value it is a mistake`() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0)
            let answers = Log<Answer>()
            value.wait.lowestPriority.set { _ in
                answers.add(value.wait.lowestPriority.set(when: { $0 > 0 }) { $0 -= 1 })
            }
            value.wait.lowestPriority.set(when: { _ in
                answers.add(value.wait.highestPriority.get())
                return true
            }) { _ in answers.add(value.wait.highestPriority.get()) }
            return answers.entries
        }
        #expect(answers == Array(repeating: .failure(.reentrantCommand), count: 3))
    }

    @Test("A thread or task that waits is enough to keep its value", arguments: [false, true])
    func keeps(asTask: Bool) async throws {
        let tally = Counted.Tally()
        let tests = Log<Int>()
        let alive = Log<Int>()
        func start() -> (RunningThread?, Task<Void, Never>?) {
            let value = QueueSafeValue(value: Counted(tally: tally))
            let isMet: @Sendable (Counted) -> Bool = { _ in
                tests.add(tally.alive)
                return false
            }
            if asTask {
                let task = OwnThreads.run {
                    let answer = await value.async(timeout: .milliseconds(20)).lowestPriority.update(when: isMet) { _ in
                    }
                    if case .failure(.timedOut) = answer { alive.add(tally.alive) }
                }
                return (nil, task)
            }
            let thread = RunningThread {
                let answer = value.wait(timeout: .milliseconds(20)).lowestPriority.update(when: isMet) { _ in }
                if case .failure(.timedOut) = answer { alive.add(0) }
            }
            return (thread, nil)
        }
        let (thread, task) = start()
        if let thread { try await onThreadOfItsOwn { try inTime { thread.join() } } }
        await task?.value
        #expect(tests.entries == [1])
        #expect(alive.count == 1)
        try await onThreadOfItsOwn { try poll("the value has gone") { tally.alive == 0 } }
    }

    @Test func `While nobody waits, the value is not observed, and it is again later`() throws {
        try inTime {
            let value = QueueSafeValue(value: 0)
            for round in 1...100 {
                let log = Log<Int>()
                let waiter = RunningThread {
                    _ = value.wait.lowestPriority.set(when: { number in
                        log.add(number)
                        return number > 0
                    }) { $0 = 0 }
                }
                if round % 2 == 0 { try poll("a first test") { log.count == 1 } }
                value.wait.highestPriority.set { $0 = round }
                waiter.join()
            }
        }
    }

    @Test func `A value that is not Sendable can be waited for`() {
        final class Settings {
            var volume = 1
        }
        let value = QueueSafeValue(value: Settings())
        value.wait.lowestPriority.set(when: { $0.volume == 1 }) { $0.volume = 2 }
        #expect(value.wait.lowestPriority.update(when: { $0.volume == 2 }) { $0.volume } == .success(2))
    }
}
