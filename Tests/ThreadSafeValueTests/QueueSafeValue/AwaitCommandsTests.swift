//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("Commands that a task awaits")
struct AwaitCommandsTests {
    private struct Refused: Error {}

    @Test func `Every command answers`() async {
        let value = QueueSafeValue(value: 1)
        #expect(await value.async.highestPriority.get() == .success(1))
        #expect(await value.async.lowestPriority.set(newValue: 2) == .success(2))
        #expect(await value.async.highPriority.set { $0 += 1 } == .success(3))
        #expect(await value.async.mediumPriority.map { "\($0)" } == .success("3"))
        let body = await value.async.lowPriority.set { number in
            await Task.yield()
            number += 1
        }
        #expect(body == .success(4))
        #expect(
            await value.async.highestPriority.set { _ in throw Refused() } == .failure(.unexpected(error: Refused()))
        )
        let thrown = await value.async.highestPriority.set { number in
            await Task.yield()
            throw Refused()
        }
        #expect(thrown == .failure(.unexpected(error: Refused())))
        #expect(await value.async.highestPriority.get() == .success(4))
    }

    @Test func `A free turn is taken at once, in the task`() async {
        let value = QueueSafeValue(value: 0)
        // A task that is suspended may go on elsewhere, so it has this mark only if it was not.
        let isSame = await value.async.highestPriority.map { [thread = ThreadName.current] _ in
            ThreadName.current == thread
        }
        #expect(isSame == .success(true))
    }

    @MainActor
    @Test(arguments: [true, false])
    func `A task of an actor runs its command on the actor if the turn is free`(isListenedTo: Bool) async {
        let value = QueueSafeValue(value: 0)
        let changes = isListenedTo ? value.changes() : nil
        defer { withExtendedLifetime(changes) {} }
        let isOnSameThread: @Sendable (inout Int) -> Bool = { [thread = ThreadName.current] _ in
            ThreadName.current == thread
        }
        let answers = [
            await value.async.highestPriority.update(isOnSameThread),
            await value.async(timeout: .seconds(300)).lowestPriority.update(isOnSameThread),
        ]
        #expect(answers == [.success(true), .success(true)])
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `A command that had to wait is over when its task goes on`() async throws {
        let value = QueueSafeValue(value: 0)
        for number in 1...100 {
            let blocker = Blocker(value)
            let task = Task {
                let result = await value.async.highestPriority.set { $0 += 1 }
                // A listener that comes now hears of what comes now.
                var iterator = value.changes(buffering: .unbounded).makeAsyncIterator()
                #expect(value.wait(timeout: .seconds(0)).highestPriority.get() == result)
                value.wait.highestPriority.set { $0 += 1_000 }
                #expect(await iterator.next() == number + number * 1_000)
                return result
            }
            try await onThreadOfItsOwn {
                try poll("the command waits") { value.pendingCommandCount(.highest) == 1 }
                blocker.end()
            }
            #expect(await task.value == .success(number + (number - 1) * 1_000))
        }
    }

    @Test func `Thousands of tasks wait without blocking the pool, and lose nothing`() async {
        let value = QueueSafeValue(value: 0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                group.addTask {
                    if number.isMultiple(of: 3) {
                        await value.async.lowestPriority.set { count in
                            let seen = count
                            await Task.yield()
                            count = seen + 1
                        }
                    } else {
                        await value.async.priority(number.isMultiple(of: 2) ? .high : .low).set { $0 += 1 }
                    }
                }
            }
        }
        #expect(await value.async.lowestPriority.get() == .success(2_000))
        #expect(value.pendingCommandCount() == 0)
    }

    @Test func `The turn is kept while an async body is suspended`() async {
        let value = QueueSafeValue(value: 0)
        await value.async.highestPriority.set { number in
            number = 1
            // Another thread looks, and finds the turn taken.
            let other = await onAThread { value.wait(timeout: .seconds(0)).highestPriority.get() }
            #expect(other == .failure(.timedOut))
            number = 2
        }
        #expect(await value.async.highestPriority.get() == .success(2))
    }

    @Test func `The command of a cancelled task that waits is removed, and others go on`() async {
        let value = QueueSafeValue(value: 0)
        value.suspend()
        let task = Task { await value.async.highestPriority.set { $0 += 1 } }
        let body = Task {
            await value.async.highestPriority.set { number in
                await Task.yield(); number += 1
            }
        }
        let other = Task { await value.async.lowestPriority.set { $0 += 10 } }
        while value.pendingCommandCount() < 3 { await Task.yield() }
        task.cancel()
        body.cancel()
        #expect(await task.value == .failure(.cancelled))
        #expect(await body.value == .failure(.cancelled))
        value.resume()
        #expect(await other.value == .success(10))
    }

    @Test func `A task that was cancelled before does not start its command`() async {
        let value = QueueSafeValue(value: 0)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await value.async.highestPriority.set { $0 += 1 }
        }
        let body = Task {
            while !Task.isCancelled { await Task.yield() }
            return await value.async.highestPriority.set { number in
                await Task.yield()
                number += 1
            }
        }
        for task in [task, body] {
            task.cancel()
            #expect(await task.value == .failure(.cancelled))
        }
        #expect(await value.async.highestPriority.get() == .success(0))
    }

    @Test(arguments: [false, true])
    func `A cancellation that races the submission is not lost, and the command counts no more`(
        isBody: Bool
    ) async throws {
        let value = QueueSafeValue(value: 0)
        let answers = Log<Result<Int, QueueSafeValueError>>()
        value.suspend()
        try await onThreadOfItsOwn {
            for round in 0..<1_500 {
                let begins = Protected(false)
                let task = OwnThreads.run {
                    begins.wrappedValue = true
                    answers.add(
                        isBody
                            ? await value.async.highestPriority.set { _ in await Task.yield() }
                            : await value.async.highestPriority.get()
                    )
                }
                try poll(looks: 1_000, "round \(round): the task begins") { begins.wrappedValue }
                // Each time a little longer, so that some cancel in the middle of the submission. Others as soon as the
                // command is in line.
                for _ in 0..<round % 100 { _ = begins.wrappedValue }
                if round % 2 == 0 {
                    try poll(looks: 1_000, "round \(round): in line") { value.pendingCommandCount() == 1 }
                }
                task.cancel()
                try poll("round \(round): it counts no more") { value.pendingCommandCount() == 0 }
                try poll("round \(round): the cancelled task ends") { answers.count > round }
            }
        }
        #expect(answers.entries.allSatisfy { $0 == .failure(.cancelled) })
        value.resume()
    }

    /// The command with the turn runs on the queue where theirs do, while some of them come in line.
    @Test(arguments: [false, true])
    func `Tasks that are cancelled with the turn before theirs do not begin, 1,000 times`(withCondition: Bool) async {
        for round in 0..<1_000 {
            let value = QueueSafeValue(value: 0)
            let (begun, cancelled) = (Protected(Set<Int>()), Protected(Set<Int>()))
            let (tasks, isOver) = (Protected([Task<Void, Never>]()), Protected(false))
            for index in 0..<12 {
                let body: @Sendable (inout Int) -> Void = { number in
                    begun.write { _ = $0.insert(index) }
                    number += 1
                }
                let task = Task {
                    if withCondition {
                        _ = await value.async.lowestPriority.update(when: { _ in true }, body)
                    } else {
                        _ = await value.async.lowestPriority.set(body)
                    }
                }
                tasks.append(task)
            }
            value.async(performIn: .global(qos: .userInitiated)).highestPriority.set { _ in
                let begun = begun.wrappedValue
                for (index, task) in tasks.wrappedValue.enumerated() where !begun.contains(index) {
                    cancelled.write { _ = $0.insert(index) }
                    task.cancel()
                }
                isOver.wrappedValue = true
            }
            for task in tasks.wrappedValue { await task.value }
            while !isOver.wrappedValue { await Task.yield() }
            guard begun.wrappedValue.isDisjoint(with: cancelled.wrappedValue) else {
                Issue.record("round \(round): \(begun.wrappedValue), \(cancelled.wrappedValue)")
                return
            }
        }
    }

    @Test func `A command that has started completes although its task is cancelled`() async {
        let value = QueueSafeValue(value: 0)
        let task = Task {
            await value.async.highestPriority.set { number in
                while !Task.isCancelled { await Task.yield() }
                number = 1
            }
        }
        while value.wait(timeout: .seconds(0)).lowestPriority.get() != .failure(.timedOut) { await Task.yield() }
        task.cancel()
        #expect(await task.value == .success(1))
    }

    /// They are inlined in the function, which goes on on other threads. Who has the turn is asked inside of it.
    @Test func `A command takes the turn for the thread that the function is on by then`() async {
        let value = QueueSafeValue(value: 0)
        let answers = Log<Result<Int, QueueSafeValueError>>()
        let change: @Sendable (inout Int) -> Void = { number in
            answers.add(value.wait(timeout: .seconds(0)).highestPriority.get())
            number += 1
        }
        for _ in 0..<200 {
            await value.async.highestPriority.set { change(&$0) }
            await onAThread {}
            await value.async.lowestPriority.update { change(&$0) }
            await onAThread {}
            value.wait.highestPriority.set { change(&$0) }
            await onAThread {}
            value.wait.lowestPriority.update { change(&$0) }
            await onAThread {}
        }
        #expect(answers.entries == Array(repeating: .failure(.reentrantCommand), count: 800))
        #expect(await value.async.highestPriority.get() == .success(800))
    }

    @Test func `A command inside an async body of the same value is re-entrant`() async {
        let value = QueueSafeValue(value: 0)
        await value.async.highestPriority.set { number in
            await Task.yield()
            #expect(await value.async.highestPriority.get() == .failure(.reentrantCommand))
            #expect(value.wait.highestPriority.get() == .failure(.reentrantCommand))
            await QueueSafeValue(value: 0).async.lowestPriority.set { other in
                await Task.yield()
                #expect(await value.async.lowestPriority.get() == .failure(.reentrantCommand))
                other = 1
            }
            number = 1
        }
        #expect(await value.async.highestPriority.get() == .success(1))
    }

    @Test func `Async bodies that take two values in opposite orders do not hang`() async {
        let first = QueueSafeValue(value: 0)
        let second = QueueSafeValue(value: 0)
        let circles = Protected(0)
        for _ in 0..<200 {
            await withTaskGroup(of: Void.self) { group in
                for (one, other) in [(first, second), (second, first)] {
                    group.addTask {
                        await one.async.highestPriority.set { number in
                            await Task.yield()
                            number += 1
                            if await other.async.highestPriority.set({ $0 += 1 }) == .failure(.circularWait) {
                                circles.write { $0 += 1 }
                            }
                        }
                    }
                }
            }
        }
        let sum = (try? await first.async.lowestPriority.get().get()) ?? 0
        let other = (try? await second.async.lowestPriority.get().get()) ?? 0
        #expect(sum + other == 800 - circles.wrappedValue)
    }

    @Test func `A schedule that is kept keeps the value`() async {
        let schedule = QueueSafeValue(value: 0).async
        #expect(await schedule.lowestPriority.set { $0 += 1 } == .success(1))
        #expect(await schedule.highestPriority.get() == .success(1))
    }

    /// Runs `body` on a thread of a queue.
    private func onAThread<Answer: Sendable>(_ body: @escaping @Sendable () -> Answer) async -> Answer {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: body()) }
        }
    }
}

/// Tells threads apart, also in async code.
private enum ThreadName {
    static var current: ObjectIdentifier { ThreadID.current }
}
