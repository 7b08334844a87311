//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

extension PromiseTests {
    // MARK: 7, mistakes

    @Test("Promise 7: a command inside a command of its own value answers, on the thread and in the task")
    func reentrant() async throws {
        let value = QueueSafeValue(value: 0)
        let answers = Log<Answer>()
        try await onThreadOfItsOwn {
            try inTime {
                value.wait.lowestPriority.set { _ in answers.add(value.wait.highestPriority.get()) }
                let isDone = Door()
                value.async(performIn: .utility).lowestPriority.set { _ in
                    answers.add(value.wait.highestPriority.get())
                    isDone.open()
                }
                isDone.waitUntilOpen()
            }
        }
        await OwnThreads.run {
            await value.async.lowestPriority.set { _ in
                answers.add(await value.async.highestPriority.get())
                await Task.yield()
                answers.add(value.wait.highestPriority.get())
                answers.add(
                    await value.async.highestPriority.update {
                        await Task.yield(); return $0
                    }
                )
            }
        }.value
        #expect(answers.entries == Array(repeating: .failure(.reentrantCommand), count: 5))
    }

    @Test("Promise 7: of two threads that take two values in opposite orders one is told, and one goes on")
    func circleOfThreads() throws {
        let answers = try inTime {
            let values = [QueueSafeValue(value: 0), QueueSafeValue(value: 0)]
            let answers = Log<Answer>()
            let bothHaveOne = StartGate(count: 2)
            onThreads(2) { index in
                values[index].wait.lowestPriority.set { _ in
                    bothHaveOne.pass()
                    answers.add(values[1 - index].wait.lowestPriority.set { $0 += 1 })
                }
            }
            return answers.entries
        }
        #expect(answers == [.failure(.circularWait), .success(1)])
    }

    @Test("Promise 7: so of two tasks")
    func circleOfTasks() async throws {
        Mistakes.keepQuiet()
        let values = [QueueSafeValue(value: 0), QueueSafeValue(value: 0)]
        let gates = [Gate(), Gate()]
        let answers = Log<Answer>()
        for index in 0..<2 {
            OwnThreads.run {
                await values[index].async.lowestPriority.set { _ in
                    gates[index].open()
                    await gates[1 - index].pass()
                    answers.add(await values[1 - index].async.lowestPriority.set { $0 += 1 })
                }
            }
        }
        try await onThreadOfItsOwn { try poll("both are answered") { answers.count == 2 } }
        #expect(answers.entries == [.failure(.circularWait), .success(1)])
    }

    /// On a busy machine the task of the async closure may be late, and the thread passes it; then it is tried again.
    @Test("Promise 7: a `wait` that sleeps in a task is answered when an async closure takes the turn")
    func sleepsAlready() async throws {
        var answer = Answer.success(1)
        for _ in 0..<100 where answer == .success(1) {
            let value = QueueSafeValue(value: 0)
            let (blocker, answers, isOver) = (Blocker(value), Log<Answer>(), Gate())
            Task.detached { answers.add(value.wait.lowestPriority.set { $0 += 1 }) }
            try await onThreadOfItsOwn { try value.waitForPending(1) }
            // It falls asleep. If it does not in this time, it is answered as it is about to.
            try await onThreadOfItsOwn { Thread.sleep(forTimeInterval: 0.02) }
            OwnThreads.run { await value.async.highestPriority.set { _ in await isOver.pass() } }
            try await onThreadOfItsOwn { try value.waitForPending(2) }
            blocker.end()
            defer { isOver.open() }
            try await onThreadOfItsOwn { try poll("it is answered") { answers.count == 1 } }
            answer = answers.entries[0]
        }
        #expect(answer == .failure(.circularWait))
    }

    /// In a process of its own, as it takes a thread of the pool that all tests share.
    @Test("Promise 7: a `wait` for a condition that sleeps in a task is answered when an async closure takes the turn")
    func sleepsForChange() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            Mistakes.keepQuiet()
            let value = QueueSafeValue(value: 0)
            let isTested = Gate()
            let change = { @Sendable in
                value.wait.lowestPriority.set(when: { number in
                    isTested.open()
                    return number > 0
                }) { $0 += 1 }
            }
            let waiting = Task.detached { change() }
            await isTested.pass()
            // It falls asleep. If it does not in this time, it is answered as it is about to.
            try await Task.sleep(nanoseconds: 20_000_000)
            let answer = await value.async.highestPriority.set { _ in
                #expect(await waiting.value == .failure(.circularWait))
            }
            #expect(answer == .success(0))
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test("Promise 7: a `wait` in a task that begins inside of a command is re-entrant", arguments: [false, true])
    func immediateTask(isContended: Bool) async throws {
        let value = QueueSafeValue(value: 0)
        let answers = Log<Answer>()
        let blocker = isContended ? Blocker(value) : nil
        let task = OwnThreads.run {
            await value.async.lowestPriority.set { number in
                number += 1
                _ = Task.immediate { answers.add(waitInside(value)) }
            }
        }
        if let blocker {
            try await onThreadOfItsOwn { try value.waitForPending(1) }
            blocker.end()
        }
        await task.value
        #expect(answers.entries == [.failure(.reentrantCommand)])
    }

    /// They would have all threads of the pool, of which the closure needs one to end.
    @Test("Promise 7: each `wait` in a task beside an async closure that sleeps gets an answer")
    func waitsInTasks() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            Mistakes.keepQuiet()
            let value = QueueSafeValue(value: 0)
            let hasTurn = Gate()
            let closure = sleeper(with: value, hasTurn)
            await hasTurn.pass()
            let tasks = (0..<8).map { _ in Task { value.wait.lowestPriority.set { $0 += 1 } } }
            var goneOn = 0
            for task in tasks {
                let answer = await task.value
                if answer == .failure(.circularWait) { continue }
                goneOn += 1
                #expect((try? answer.get()) != nil)
            }
            await closure.value
            let sum = await value.async.lowestPriority.get()
            #expect(sum == .success(1 + goneOn))
        }
        #expect(result?.crashMessage != "It hung.")
    }

    @Test("Promise 7: a `done` that is dropped ends its command with an error, on a thread and on a queue")
    func droppedDone() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0)
            let answers = Log<Answer>()
            answers.add(value.wait.lowestPriority.set { number, _ in number += 1 })
            let told = Door()
            value.async(performIn: .utility).lowestPriority.set { number, done in
                number += 1
                // Later, on another thread.
                DispatchQueue.global().async { _ = done }
            } completion: {
                answers.add($0)
                told.open()
            }
            told.waitUntilOpen()
            answers.add(value.wait.lowestPriority.get())
            return answers.entries
        }
        #expect(answers == [.failure(.completionDropped), .failure(.completionDropped), .success(2)])
    }

    @Test("Promise 7: a second `done()` does nothing, also while another command has the turn")
    func secondDone() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0)
            let (answers, told, kept) = (Log<Answer>(), Log<Int>(), Log<CommandCompletionClosure>())
            value.wait.lowestPriority.set { _, done in
                kept.add(done)
                done()
                done()
            }
            let isTold = Door()
            value.async(performIn: .utility).lowestPriority.set { _, done in
                kept.add(done)
                done()
            } completion: { _ in
                told.add(1)
                isTold.open()
            }
            isTold.waitUntilOpen()
            value.wait.lowestPriority.set { number in
                number += 1
                let other = RunningThread {
                    for done in kept.entries { done() }
                    answers.add(value.wait(timeout: .seconds(0)).highestPriority.get())
                }
                other.join()
            }
            answers.add(value.wait.lowestPriority.get())
            #expect(told.count == 1)
            return answers.entries
        }
        #expect(answers == [.failure(.timedOut), .success(1)])
    }
}

/// A task of the shared pool that sleeps while its closure has the turn.
private func sleeper(with value: QueueSafeValue<Int>, _ hasTurn: Gate) -> Task<Void, Never> {
    Task {
        await value.async.lowestPriority.set { number in
            hasTurn.open()
            try await Task.sleep(nanoseconds: 30_000_000)
            number += 1
        }
    }
}

/// A re-entrant `wait`. If nobody finds that, it ends all the same.
private func waitInside(_ value: QueueSafeValue<Int>) -> Result<Int, QueueSafeValueError> {
    value.wait(timeout: .seconds(60)).lowestPriority.get()
}
