//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("Awaited commands that wait for a condition")
struct AwaitedConditionTests {
    @Test func `A task waits without a thread, and hears of each change`() async throws {
        let value = QueueSafeValue(value: 0)
        let tests = Log<Int>()
        let task = OwnThreads.run {
            let answer = await value.async.lowestPriority.set(when: { number in
                tests.add(number)
                return number > 1
            }) { $0 += 10 }
            #expect(answer == .success(12))
        }
        try await onThreadOfItsOwn { try poll("a first test") { tests.count == 1 } }
        value.wait.highestPriority.set { $0 += 1 }
        value.wait.highestPriority.set { $0 += 1 }
        await task.value
        #expect(await value.async.lowestPriority.get() == .success(12))
    }

    /// A thread that looks for the turn meanwhile has it as soon as the task gives it back.
    @Test func `A change right after the first test is not missed, 500 times`() async throws {
        for round in 0..<rounds(500) {
            let value = QueueSafeValue(value: 0)
            let (isTested, isCalled) = (Protected(false), Protected(false))
            let changing = OwnThreads.run {
                while !isTested.wrappedValue {}
                isCalled.wrappedValue = true
                value.wait.lowestPriority.set { $0 += 1 }
            }
            let answer = await value.async(timeout: .seconds(300)).lowestPriority.set(when: { number in
                isTested.wrappedValue = true
                // So that the thread is on its way, if there is a processor for it.
                for _ in 0..<1_000 where !isCalled.wrappedValue {}
                return number > 0
            }) { $0 += 10 }
            await changing.value
            try #require(answer == .success(11), "round \(round)")
        }
    }

    @Test func `No closure begins if its task was cancelled while the condition was tested`() async {
        let value = QueueSafeValue(value: 0)
        let task = Task {
            await value.async.lowestPriority.set(when: { _ in
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return true
            }) { $0 += 10 }
        }
        #expect(await task.value == .failure(.cancelled))
        #expect(await value.async.lowestPriority.get() == .success(0))
    }

    @Test func `A cancelled task goes on at once, wherever it waits`() async throws {
        let value = QueueSafeValue(value: 0)
        let tests = Log<Int>()
        let answers = Log<Answer>()
        let waiting = OwnThreads.run {
            let answer = await value.async.lowestPriority.set(when: { number in
                tests.add(number)
                return number > 0
            }) { $0 += 10 }
            answers.add(answer)
        }
        try await onThreadOfItsOwn { try poll("a first test") { tests.count == 1 } }
        waiting.cancel()
        await waiting.value
        let blocker = Blocker(value)
        let inLine = OwnThreads.run {
            answers.add(await value.async.lowestPriority.set(when: { $0 > 0 }) { $0 += 10 })
        }
        try await onThreadOfItsOwn { try value.waitForPending(1) }
        inLine.cancel()
        await inLine.value
        #expect(answers.entries == [.failure(.cancelled), .failure(.cancelled)])
        blocker.end()
        #expect(await value.async.lowestPriority.get() == .success(0))
    }

    @Test
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func `A task that waits stands in line again, also beyond a bound`() async throws {
        let value = QueueSafeValue(value: 0, pendingCommandLimit: 0)
        let (tests, executor) = (Log<Int>(), QueueExecutor())
        let task = Self.addTen(value.async.lowestPriority, noting: tests, on: executor)
        try await onThreadOfItsOwn {
            try Self.change(value, whenTestedIn: tests, whileLate: executor)
            try value.wait.lowestPriority.update { _ in
                executor.queue.resume()
                try value.waitForPending(1)
            }.get()
        }
        #expect(await task.value == .success(11))
        #expect(await value.async.lowestPriority.get() == .success(11))
    }

    @Test
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func `A task that goes on after its time does not test its condition`() async throws {
        let value = QueueSafeValue(value: 0)
        let (tests, executor) = (Log<Int>(), QueueExecutor())
        let time = DispatchTime.now() + .milliseconds(200)
        let commands = value.async(timeout: .milliseconds(100)).lowestPriority
        let task = Self.addTen(commands, noting: tests, on: executor)
        try await onThreadOfItsOwn {
            try Self.change(value, whenTestedIn: tests, whileLate: executor)
            try poll("its time is over") { DispatchTime.now() > time }
            executor.queue.resume()
        }
        #expect(await task.value == .failure(.timedOut))
        #expect(await value.async.lowestPriority.get() == .success(1))
        #expect(tests.entries == [0])
    }

    @Test func `The time of a task counts from the call, though the first test takes longer`() async throws {
        let value = QueueSafeValue(value: 0)
        let tests = Log<Int>()
        let end = DispatchTime.now() + .milliseconds(200)
        let task = OwnThreads.run {
            let answer = await value.async(timeout: .milliseconds(100)).lowestPriority.set(when: { number in
                tests.add(number)
                while DispatchTime.now() < end {}
                return number > 0
            }) { $0 += 10 }
            #expect(answer == .failure(.timedOut))
        }
        try await onThreadOfItsOwn {
            try poll("a first test") { tests.count == 1 }
            value.wait.highestPriority.set { $0 += 1 }
        }
        await task.value
    }

    /// Starts a task that waits for a positive number, notes those that it tests, and adds ten.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private static func addTen(
        _ commands: AwaitCommands<Int>,
        noting tests: Log<Int>,
        on executor: QueueExecutor
    ) -> Task<Answer, Never> {
        Task(executorPreference: executor) {
            await commands.set(when: { number in
                tests.add(number)
                return number > 0
            }) { $0 += 10 }
        }
    }

    /// Makes the number positive when it was tested once, while the executor lets the task not go on.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private static func change(
        _ value: QueueSafeValue<Int>,
        whenTestedIn tests: Log<Int>,
        whileLate executor: QueueExecutor
    ) throws {
        try poll("a first test") { tests.count == 1 }
        executor.suspend()
        value.wait.lowestPriority.set { $0 += 1 }
    }

    @Test func `A task whose time is over goes on, wherever it waits`() async throws {
        let value = QueueSafeValue(value: 0)
        let schedule = value.async(timeout: .milliseconds(10))
        #expect(await schedule.lowestPriority.set(when: { $0 > 0 }) { $0 += 10 } == .failure(.timedOut))
        let none = value.async(timeout: .seconds(0))
        #expect(await none.lowestPriority.set(when: { $0 > 0 }) { $0 += 10 } == .failure(.timedOut))
        #expect(await none.lowestPriority.set(when: { $0 == 0 }) { $0 += 10 } == .success(10))
        let blocker = Blocker(value)
        #expect(await schedule.lowestPriority.set(when: { $0 > 0 }) { $0 += 10 } == .failure(.timedOut))
        #expect(await none.lowestPriority.set(when: { $0 > 0 }) { $0 += 10 } == .failure(.timedOut))
        blocker.end()
        #expect(await value.async.lowestPriority.get() == .success(10))
    }

    @Test func `Inside an async closure of the same value it is a mistake`() async throws {
        let value = QueueSafeValue(value: 0)
        let answers = Log<Answer>()
        await value.async.lowestPriority.set { _ in
            answers.add(await value.async.highestPriority.set(when: { $0 > 0 }) { $0 += 1 })
        }
        #expect(answers.entries == [.failure(.reentrantCommand)])
    }

    @Test func `Those who listen are told of the change, whether it had to wait or not`() async throws {
        let value = QueueSafeValue(value: 0)
        var changes = value.changes(buffering: .unbounded).makeAsyncIterator()
        await value.async.lowestPriority.set(when: { $0 == 0 }) { $0 = 1 }
        #expect(await changes.next() == 1)
        try await onThreadOfItsOwn { _ = value.wait.lowestPriority.set(when: { $0 == 1 }) { $0 = 2 } }
        #expect(await changes.next() == 2)
        let task = OwnThreads.run { await value.async.lowestPriority.set(when: { $0 == 3 }) { $0 = 4 } }
        let thread = RunningThread { value.wait.lowestPriority.set(when: { $0 == 4 }) { $0 = 5 } }
        await value.async.lowestPriority.set { $0 = 3 }
        for number in 3...5 { #expect(await changes.next() == number) }
        await task.value
        thread.join()
    }
}
