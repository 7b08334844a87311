//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

/// An async body has the turn of one value and wants that of a second, and a thread has that and wants the first.
@Suite("Mistakes answer: circles of async bodies and threads")
struct AwaitedCircleTests {
    @Test("Of a body whose thread waits and a thread, one is told that it would close the circle")
    func blockingWait() async throws {
        try await expectOneCircle { first, second, both, answers in
            await first.async.lowestPriority.set { number in
                // So the closure is async.
                await Task.yield()
                both.pass()
                answers.add(Self.increment(second))
                number += 1
            }
        }
    }

    @Test("Also if the body that waits is in another one, which has the turn that the thread wants")
    func outerBody() async throws {
        try await expectOneCircle { first, second, both, answers in
            await first.async.lowestPriority.set { number in
                await QueueSafeValue(value: 0).async.lowestPriority.set { _ in
                    both.pass()
                    answers.add(await second.async.lowestPriority.set { $0 += 1 })
                }
                number += 1
            }
        }
    }

    @Test("Also if the body waits for the turn of another body")
    func bodyThatWaitsForBody() async throws {
        try await expectOneCircle { first, second, both, answers in
            await first.async.lowestPriority.set { number in
                both.pass()
                answers.add(await second.async.lowestPriority.set { (number: inout Int) async in number += 1 })
                number += 1
            }
        }
    }

    @Test("Also if it awaits a command with a time-out that had to wait, and has begun", arguments: [true, false])
    func awaitedInTime(isConditional: Bool) async throws {
        try await expectOneCircle { first, second, both, answers in
            await first.async.lowestPriority.set { number in
                await Task.yield()
                let other = QueueSafeValue(value: 0)
                let blocker = Blocker(other)
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { blocker.end() }
                let commands = other.async(timeout: .seconds(100)).highestPriority
                @Sendable func useSecond() {
                    both.pass()
                    answers.add(Self.increment(second))
                }
                if isConditional {
                    await commands.set(when: { _ in true }) { _ in useSecond() }
                } else {
                    await commands.set { _ in useSecond() }
                }
                number += 1
            }
        }
    }

    @Test("A command that was submitted with a time-out, and is out of time, closes no circle, 200 times")
    func submittedOutOfTime() async throws {
        var answers: [Answer] = []
        for _ in 0..<200 {
            let (first, second) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
            let both = StartGate(count: 2)
            let thread = RunningThread {
                second.wait.highestPriority.set { _ in
                    both.pass()
                    _ = first.wait.highestPriority.get()
                }
            }
            let answer: Result<Answer, QueueSafeValueError> = await first.async.highestPriority.update { _ in
                try await onThreadOfItsOwn { both.pass() }
                let command = second.async(timeout: .milliseconds(3)).highestPriority.submit { number -> Int in
                    number += 1
                    return number
                }
                return await command.value
            }
            answers.append(try answer.get())
            try await onThreadOfItsOwn { thread.join() }
        }
        #expect(answers == Array(repeating: .failure(.timedOut), count: 200))
    }

    @Test("A body that awaits a command which is over waits for nothing, and closes no circle")
    func submittedAndOver() async throws {
        let (first, second, isOver) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0), Protected(false))
        let command = second.async.highestPriority.submit { $0 += 1 }
        _ = await command.value
        let hasTurn = Door()
        async let body: Answer = first.async.highestPriority.set { number in
            hasTurn.open()
            while !isOver.wrappedValue { _ = await command.value }
            number += 1
        }
        let answer = try await onThreadOfItsOwn {
            hasTurn.waitUntilOpen()
            // It must end before the thread has its turn.
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(200)) { isOver.wrappedValue = true }
            return second.wait.highestPriority.map { _ in first.wait.highestPriority.get() }
        }
        #expect(try answer.get() == .success(1))
        #expect(await body == .success(1))
    }

    @Test("A command that was submitted with a time-out keeps no suspended value, also if a body awaits it")
    func submittedAndLetGo() async throws {
        let first = QueueSafeValue(value: 0)
        let answer: Result<Answer, QueueSafeValueError> = await first.async.highestPriority.update { _ in
            var second: QueueSafeValue<Int>? = QueueSafeValue(value: 0)
            second?.suspend()
            let command = second!.async(timeout: .seconds(100)).highestPriority.submit { number -> Int in number }
            let handle = Protected(second)
            second = nil
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { handle.wrappedValue = nil }
            return await command.value
        }
        #expect(try answer.get() == .failure(.valueContainerDeinited))
    }

    /// The time-out is about the turn, which the command has: its closure waits for that of the body for ever.
    @Test(
        "Also if it awaits a command that was submitted with a time-out, and has begun",
        arguments: [DispatchTimeInterval.seconds(100), .seconds(0)],
        [true, false]
    )
    func submittedInTime(_ timeout: DispatchTimeInterval, isAsync: Bool) async throws {
        let answers = try await onThreadOfItsOwn {
            try inTime {
                let (first, second) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
                let (answers, end) = (Log<Answer>(), Door())
                OwnThreads.run {
                    await first.async.lowestPriority.set { number in
                        let commands = second.async(timeout: timeout).lowestPriority
                        let command =
                            isAsync
                            ? commands.submit { _ -> Int in
                                await Task.yield()
                                answers.add(await first.async.lowestPriority.set { $0 += 1 })
                                return 0
                            }
                            : commands.submit { _ -> Int in
                                answers.add(Self.increment(first))
                                return 0
                            }
                        answers.add(await command.value)
                        number += 1
                    }
                    end.open()
                }
                end.waitUntilOpen()
                try poll("both have answered") { answers.count == 2 }
                return answers.entries
            }
        }
        #expect(answers.filter { $0 == .failure(.circularWait) }.count == 1)
    }

    /// The thread has the turn of the full value, and waits for that of the body until the body ends.
    @Test(
        "A body whose command a full value has not accepted waits for nothing, and closes no circle",
        arguments: [false, true]
    )
    func notAccepted(isAsync: Bool) async throws {
        let answers = try await onThreadOfItsOwn {
            try inTime {
                var policy = HandoffPolicy()
                policy.circleDelay = 0
                let first = QueueSafeValue(value: 0, policy: policy)
                let full = QueueSafeValue(value: 0, pendingCommandLimit: 0)
                let answers = Log<Answer>()
                let (isTaken, isRefused, isGivenBack) = (Door(), Door(), Door())
                let mayEnd = Protected(false)
                let holder = RunningThread {
                    full.wait.lowestPriority.get { _ in
                        isTaken.open()
                        isRefused.waitUntilOpen()
                    }
                    isGivenBack.open()
                }
                isTaken.waitUntilOpen()
                OwnThreads.run {
                    await first.async.lowestPriority.set { number in
                        let commands = full.async.lowestPriority
                        answers.add(
                            isAsync
                                ? await commands.update { (number: inout Int) async in number }
                                : await commands.get()
                        )
                        isRefused.open()
                        while !mayEnd.wrappedValue { await Task.yield() }
                        number += 1
                    }
                }
                isGivenBack.waitUntilOpen()
                let thread = RunningThread {
                    full.wait.lowestPriority.get { _ in answers.add(first.wait.lowestPriority.get()) }
                }
                try poll("the thread waits, or has its answer") { first.pendingCommandCount == 1 || answers.count == 2 }
                // Time to look for a circle; without it, a mistake may be overlooked.
                usleep(20_000)
                mayEnd.wrappedValue = true
                thread.join()
                holder.join()
                return answers.entries
            }
        }
        #expect(answers == [.failure(.commandQueueFull), .success(1)])
    }

    @Test("A task that has had its turn of a second value, and goes on soon, closes no circle")
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func taskThatGoesOn() async throws {
        let answer = try await onThreadOfItsOwn {
            var policy = HandoffPolicy()
            policy.circleDelay = 0
            let first = QueueSafeValue(value: 0, policy: policy)
            let second = QueueSafeValue(value: 0)
            let executor = HeldExecutor()
            let blocker = Blocker(second)
            let end = Door()
            // The body has `first` and waits for `second`.
            Task(executorPreference: executor) {
                await first.async.highestPriority.set { number in
                    _ = await second.async.highestPriority.set { $0 += 1 }
                    number += 1
                }
                end.open()
            }
            try second.waitForPending(1)
            // Its command on `second` runs and is complete; the task does not go on yet, as if all threads were busy.
            executor.hold()
            blocker.end()
            try poll("the command on the second value has run") { second.wait.lowestPriority.get() == .success(1) }
            let answer = Log<Result<Int, QueueSafeValueError>>()
            let thread = RunningThread {
                second.wait.highestPriority.set { _ in answer.add(first.wait.highestPriority.get()) }
            }
            try poll("the thread waits, or was refused") { first.pendingCommandCount == 1 || answer.count == 1 }
            // Time to look for a circle; without it, a mistake may be overlooked.
            usleep(20_000)
            executor.release()
            thread.join()
            end.waitUntilOpen()
            return answer.entries
        }
        // Nothing but the task's own time was in the way: it ends without `second`.
        #expect(answer == [.success(1)])
    }

    /// The task may be done with the second value before the thread that resumed it goes on.
    @Test("Nor does one that has had its turn for an async body, and has gone on already")
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func taskThatHasGoneOn() async throws {
        let answer = try await onThreadOfItsOwn {
            var policy = HandoffPolicy()
            policy.circleDelay = 0
            let first = QueueSafeValue(value: 0, policy: policy)
            let second = QueueSafeValue(value: 0)
            let executor = SlowToReturnExecutor()
            let blocker = Blocker(second)
            let (isDone, end, mayEnd) = (Door(), Door(), Gate())
            Task(executorPreference: executor) {
                await first.async.highestPriority.set { number in
                    // The only time that the executor is asked, if the task was suspended before it was resumed.
                    await second.async.highestPriority.set { (number: inout Int) async in number += 1 }
                    isDone.open()
                    await mayEnd.pass()
                    number += 1
                }
                end.open()
            }
            try second.waitForPending(1)
            executor.hold()
            blocker.end()
            isDone.waitUntilOpen()
            let answer = Log<Result<Int, QueueSafeValueError>>()
            let thread = RunningThread {
                second.wait.highestPriority.set { _ in answer.add(first.wait.highestPriority.get()) }
            }
            try poll("the thread waits, or was refused") { first.pendingCommandCount == 1 || answer.count == 1 }
            // Time to look for a circle; without it, a mistake may be overlooked.
            usleep(20_000)
            executor.release()
            mayEnd.open()
            thread.join()
            end.waitUntilOpen()
            return answer.entries
        }
        #expect(answer == [.success(1)])
    }

    // The body takes the first value, passes the gate, and adds what it is answered by the second.
    private func expectOneCircle(
        _ body:
            @escaping @Sendable (QueueSafeValue<Int>, QueueSafeValue<Int>, StartGate, Log<Answer>) async -> Void
    ) async throws {
        let answers = try await onThreadOfItsOwn {
            try inTime {
                let (first, second) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
                let both = StartGate(count: 2)
                let answers = Log<Answer>()
                let end = Door()
                OwnThreads.run {
                    await body(first, second, both, answers)
                    end.open()
                }
                second.wait.lowestPriority.set { _ in
                    both.pass()
                    answers.add(Self.increment(first))
                }
                end.waitUntilOpen()
                return answers.entries
            }
        }
        #expect(answers.count == 2)
        #expect(answers.count { $0 == .failure(.circularWait) } == 1, "\(answers)")
    }

    // Not in an async closure, which had better await.
    private static func increment(_ value: QueueSafeValue<Int>) -> Answer {
        value.wait.lowestPriority.set { $0 += 1 }
    }
}

/// Takes a job, and returns to whoever resumed the task only when told to.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class SlowToReturnExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "slow to return", attributes: .concurrent)
    private let held = Protected<Door?>(nil)

    func enqueue(_ job: consuming ExecutorJob) {
        let (job, executor) = unsafe (UnownedJob(job), asUnownedTaskExecutor())
        queue.async { unsafe job.runSynchronously(on: executor) }
        held.exchange(nil)?.waitUntilOpen()
    }

    /// The next call of `enqueue` returns late.
    func hold() {
        held.write(door)
    }

    func release() {
        door.open()
    }

    private let door = Door()
}

/// Runs jobs at once, or keeps them until told to go on.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class HeldExecutor: TaskExecutor, @unchecked Sendable {
    private let queue = DispatchQueue(label: "held")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    func hold() { queue.suspend() }

    func release() { queue.resume() }
}
