//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("Tasks of an awaited body")
struct AwaitedBodyTests {
    /// The body goes on until the task's command stands in line, or was answered: only then it ends.
    @Test("A task that a body starts and does not await waits for the body, and then its update is done")
    func startedTask() async throws {
        let (answers, number) = try await onOwnThreads {
            let value = QueueSafeValue(value: 0)
            let answers = Log<Answer>()
            for index in 0..<100 {
                let started = Log<Task<Void, Never>>()
                await value.async.lowestPriority.set { number in
                    started.add(
                        OwnThreads.run { answers.add(await value.async.highestPriority.set { $0 += 1 }) }
                    )
                    while answers.count == index, value.pendingCommandCount == 0 { await Task.yield() }
                    number += 1
                }
                for task in started.entries { await task.value }
            }
            return (answers.entries, await value.async.lowestPriority.get())
        }
        #expect(answers.allSatisfy { (try? $0.get()) != nil }, "\(answers.prefix(3))")
        #expect(number == .success(200))
    }

    /// As before, and it is a task of the task that has a body of another value and uses the first one from there.
    @Test("So does one that such a task starts, also in a body of another value")
    func deeper() async throws {
        let (answers, numbers) = try await onOwnThreads {
            let (value, other) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
            let answers = Log<Answer>()
            let started = Log<Task<Void, Never>>()
            await value.async.lowestPriority.set { number in
                started.add(
                    OwnThreads.run {
                        started.add(
                            OwnThreads.run {
                                await other.async.lowestPriority.set { number in
                                    number += 1
                                    answers.add(await value.async.lowestPriority.set { $0 += 1 })
                                }
                            }
                        )
                    }
                )
                while answers.count == 0, value.pendingCommandCount == 0 { await Task.yield() }
                number += 1
            }
            // The second one is there when the first is over.
            for index in 0..<2 { await started.entries[index].value }
            return (answers.entries, [await value.async.lowestPriority.get(), await other.async.lowestPriority.get()])
        }
        #expect(answers == [.success(2)])
        #expect(numbers == [.success(2), .success(1)])
    }

    /// The time-out is for a body that is not known: it would wait for itself.
    @Test("A body that had to wait for its turn is answered at once that it waits for itself, as is a child of it")
    func bodyThatWaited() async throws {
        let answers = try await onOwnThreads {
            let value = QueueSafeValue(value: 0)
            let answers = Log<Answer>()
            let blocker = Blocker(value)
            async let body = value.async.lowestPriority.set { number in
                number += 1
                answers.add(await value.async(timeout: .seconds(20)).highestPriority.get())
                async let child = value.async(timeout: .seconds(20)).lowestPriority.get()
                answers.add(await child)
            }
            while value.pendingCommandCount == 0 { await Task.yield() }
            blocker.end()
            answers.add(await body)
            return answers.entries
        }
        #expect(answers == [.failure(.reentrantCommand), .failure(.reentrantCommand), .success(1)])
    }

    /// It runs on a thread that has no task. The second command runs there as well, and is no part of the body.
    @Test("So is a closure that it awaits and that had to wait for another value, but not what its block runs next")
    func closureThatWaited() async throws {
        let answers = try await onOwnThreads {
            let (value, other) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
            let (answers, isOver) = (Log<Answer>(), Gate())
            let blocker = Blocker(other)
            async let body = value.async.highestPriority.set { _ in
                await other.async.highestPriority.set { _ in
                    answers.add(value.wait(timeout: .seconds(20)).lowestPriority.get())
                    answers.add(value.wait.lowestPriority.get())
                }
                await isOver.pass()
            }
            while other.pendingCommandCount == 0 { await Task.yield() }
            other.async(performIn: .global(qos: .userInitiated)).lowestPriority.set { _ in
                answers.add(value.wait(timeout: .milliseconds(5)).lowestPriority.get())
                isOver.open()
            }
            blocker.end()
            answers.add(await body)
            return answers.entries
        }
        #expect(
            answers == [
                .failure(.reentrantCommand), .failure(.reentrantCommand), .failure(.timedOut), .success(0),
            ]
        )
    }

    /// What that thread runs in place holds up the closure if it waits, but not if it is suspended.
    @Test("A task that runs in place in such a closure is part of the body where it waits, and is none where it awaits")
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func taskInPlace() async throws {
        let answers = try await onOwnThreads {
            let (value, other) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
            let (answers, awaited, isOver) = (Log<Answer>(), Log<Answer>(), Gate())
            let blocker = Blocker(other)
            async let body = value.async.highestPriority.set { _ in
                await other.async.highestPriority.set { _ in
                    Task(executorPreference: InPlace()) {
                        answers.add(Self.wait(value))
                        awaited.add(await value.async.lowestPriority.set { $0 += 1 })
                        isOver.open()
                    }
                }
            }
            while other.pendingCommandCount == 0 { await Task.yield() }
            blocker.end()
            answers.add(await body)
            await isOver.pass()
            return answers.entries + awaited.entries
        }
        #expect(answers == [.failure(.reentrantCommand), .success(0), .success(1)])
    }

    // Not in an async closure, which had better await.
    private static func wait(_ value: QueueSafeValue<Int>) -> Answer {
        value.wait(timeout: .seconds(20)).lowestPriority.get()
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private final class InPlace: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            unsafe UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// While a task is in the body of a group, its children have copies of its locals, as a `Task { }` has.
    @Test("So is a child of a body that is itself in the body of a group")
    func childrenInAGroup() async throws {
        let answers = try await onOwnThreads {
            let value = QueueSafeValue(value: 0)
            let answers = Log<Answer>()
            await withTaskGroup(of: Int.self) { outer in
                outer.addTask { 1 }
                for await step in outer {
                    await value.async.lowestPriority.set { number in
                        number += step
                        async let child = value.async.highestPriority.set { $0 += 1 }
                        answers.add(await child)
                        await withTaskGroup(of: Void.self) { inner in
                            inner.addTask { answers.add(await value.async.lowestPriority.get()) }
                        }
                    }
                }
            }
            return answers.entries + [await value.async.lowestPriority.get()]
        }
        #expect(answers == [.failure(.reentrantCommand), .failure(.reentrantCommand), .success(1)])
    }

    /// The other value is in use when the command is given, so its closure does not run in the task.
    @Test("The closure of an awaited command that had to wait does not wait for the body's value for ever")
    func closureElsewhere() async throws {
        let answers = try await onOwnThreads {
            let (value, other) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
            let answers = Log<Answer>()
            let blocker = Blocker(other)
            await value.async.lowestPriority.set { number in
                async let mapped = other.async.lowestPriority.map { _ in
                    answers.add(value.wait.lowestPriority.set { $0 += 1 })
                }
                while other.pendingCommandCount == 0 { await Task.yield() }
                blocker.end()
                _ = await mapped
                number += 1
            }
            return answers.entries + [await value.async.lowestPriority.get()]
        }
        #expect(answers == [.failure(.reentrantCommand), .success(1)])
    }

    @Test("A task that the body awaits, as its child or in a group, is answered at once that it waits for itself")
    func children() async throws {
        let answers = try await onOwnThreads {
            let value = QueueSafeValue(value: 0)
            let answers = Log<Answer>()
            await value.async.lowestPriority.set { number in
                number += 1
                async let child = value.async.highestPriority.set { $0 += 1 }
                answers.add(await child)
                await withTaskGroup(of: Answer.self) { group in
                    for _ in 0..<2 { group.addTask { await value.async.lowestPriority.get() } }
                    for await answer in group { answers.add(answer) }
                }
                answers.add(await value.async.lowestPriority.set { $0 += 1 })
            }
            answers.add(await value.async.lowestPriority.get())
            return answers.entries
        }
        #expect(answers == Array(repeating: .failure(.reentrantCommand), count: 4) + [.success(1)])
    }

    /// The inner body is over, and its memory is used again: a copy of the task's locals may come to where they stood.
    /// Without a place that is erased then, some of a million commands were taken for a part of the outer body.
    @Test("A task that was started in a body is part of no body either when that one is over and its memory used again")
    func usedAgain() async throws {
        let (successes, failures) = try await onOwnThreads {
            let answers = Protected((successes: 0, failures: 0))
            let end = nanoseconds() + 2_000_000_000
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask { while nanoseconds() < end { await Self.outlive(answers) } }
                }
            }
            return answers.wrappedValue
        }
        #expect(failures == 0, "And \(successes) successes")
    }

    private enum Local {
        @TaskLocal static var number = 0
    }

    /// In children of a body of one value, bodies of another one each start a task that outlives them, but not the
    /// first body.
    private static func outlive(_ answers: Protected<(successes: Int, failures: Int)>) async {
        let (outer, inner) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
        let tasks = Protected([Task<Void, Never>]())
        await Local.$number.withValue(1) {
            await outer.async.lowestPriority.set { _ in
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            await inner.async.lowestPriority.set { number in
                                number += 1
                                tasks.append(OwnThreads.run { await startOthers(outer, answers) })
                                await Task.yield()
                            }
                        }
                    }
                }
                await waitForAMoment()
            }
        }
        for task in tasks.wrappedValue { await task.value }
    }

    private static func startOthers(
        _ value: QueueSafeValue<Int>,
        _ answers: Protected<(successes: Int, failures: Int)>
    ) async {
        try? await Task.sleep(nanoseconds: 1_000_000)
        let tasks = (0..<20).map { _ in
            OwnThreads.run {
                let isSuccess = (try? await value.async.lowestPriority.set { $0 += 1 }.get()) != nil
                if isSuccess { answers.successes += 1 } else { answers.failures += 1 }
            }
        }
        for task in tasks { await task.value }
    }

    private static func waitForAMoment() async {
        try? await Task.sleep(nanoseconds: 4_000_000)
    }

    /// Each step has bodies of three values and starts the next step's task in them, as a pipeline or a timer that
    /// renews itself does. Nothing may be handed down from step to step. The least of several parts of the chain, and
    /// once more if that looks bad, as a busy machine makes some of them longer.
    @Test("A chain of 20,000 tasks, each started in a body of the one before, does not get slower")
    func chain() async throws {
        let steps = 20_000
        var (first, last): (UInt64, UInt64) = (.max / 8, .max)
        for _ in 0..<3 where last > 4 * first + 500_000 {
            let times = try await onOwnThreads {
                let times = Log<UInt64>()
                let end = Gate()
                Self.step(steps, times, end)
                await end.pass()
                return times.entries
            }
            let parts = stride(from: 0, to: steps, by: 500).map { times[min($0 + 500, steps - 1)] - times[$0] }
            (first, last) = (min(first, parts.prefix(8).min()!), min(last, parts.suffix(8).min()!))
        }
        #expect(last <= 4 * first + 500_000, "500 steps: \(first) ns at first, \(last) ns at last")
    }

    private static func step(_ count: Int, _ times: Log<UInt64>, _ end: Gate) {
        times.add(nanoseconds())
        guard count > 1 else { return end.open() }
        OwnThreads.run {
            let values = (0..<3).map { _ in QueueSafeValue(value: 0) }
            await values[0].async.lowestPriority.set { _ in
                await values[1].async.lowestPriority.set { _ in
                    await values[2].async.lowestPriority.set { _ in
                        await Task.yield()
                        step(count - 1, times, end)
                    }
                }
            }
        }
    }

    /// Runs a task on threads of its own, and fails when it takes too long.
    private func onOwnThreads<Result: Sendable>(
        seconds: Int = 300,
        _ body: @escaping @Sendable () async -> Result
    ) async throws -> Result {
        let result = Log<Result>()
        let end = DispatchSemaphore(value: 0)
        OwnThreads.run {
            result.add(await body())
            end.signal()
        }
        return try await onThreadOfItsOwn {
            guard end.wait(timeout: .now() + .seconds(seconds)) == .success else {
                throw Hung(description: "It hung: no end after \(seconds) s.")
            }
            return result.entries[0]
        }
    }
}
