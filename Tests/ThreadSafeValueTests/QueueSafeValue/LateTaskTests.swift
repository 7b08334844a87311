//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

/// An executor that is suspended stands for all that let a task wait: a busy pool, or one whose threads are blocked.
@Suite("No turn is held for a task whose executor is late")
struct LateTaskTests {
    private typealias Answer = Result<Int, QueueSafeValueError>

    // Long enough to notice that it is for ever.
    private static let long = DispatchTimeInterval.seconds(20)

    @Test
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func `A wait goes on while a task that is next cannot run its async closure`() async throws {
        let (value, executor) = (QueueSafeValue(value: 0), QueueExecutor())
        let (task, answer) = try await onThreadOfItsOwn {
            let blocker = Blocker(value)
            let task = Self.task(on: executor, adding: 1, to: value)
            try value.waitForPending(1)
            executor.suspend()
            blocker.end()
            return (task, value.wait(timeout: Self.long).lowestPriority.set { $0 += 10 })
        }
        #expect(answer == .success(10))
        #expect(value.pendingCommandCount == 1)
        executor.queue.resume()
        #expect(await task.value == .success(11))
    }

    /// A task of an actor, or in the body of a group, calls the command, and another executor runs the closure.
    @Test(arguments: [false, true])
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func `The time of an async closure counts from the call, however late it is`(inGroup: Bool) async throws {
        let (value, executor, isSuspended) = (QueueSafeValue(value: 0), QueueExecutor(), Door())
        let task = Task(executorPreference: executor) {
            if !inGroup { return await Self.changeOnMainActor(value, after: executor, isSuspended) }
            return await withTaskGroup(of: Void.self) { _ in
                executor.queue.suspend()
                isSuspended.open()
                return await Self.change(value)
            }
        }
        try await onThreadOfItsOwn {
            isSuspended.waitUntilOpen()
            let time = DispatchTime.now() + .milliseconds(500)
            try poll("its time is over") { DispatchTime.now() > time }
            executor.queue.resume()
        }
        #expect(await task.value == .failure(.timedOut))
        #expect(await value.async.highestPriority.get() == .success(0))
    }

    @MainActor
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private static func changeOnMainActor(
        _ value: QueueSafeValue<Int>,
        after executor: QueueExecutor,
        _ isSuspended: Door
    ) async -> Answer {
        executor.queue.suspend()
        isSuspended.open()
        return await change(value)
    }

    nonisolated(nonsending) private static func change(_ value: QueueSafeValue<Int>) async -> Answer {
        await value.async(timeout: .milliseconds(10)).highestPriority.set { number in
            await Task.yield()
            number += 1
        }
    }

    /// The queue has one thread: the task suspends what is to start its child.
    @Test
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func `Nor does a wait for the child of a task in the body of a group`() async throws {
        let value = QueueSafeValue(value: 0)
        let executor = QueueExecutor()
        let (task, answer) = try await onThreadOfItsOwn {
            let isSuspended = Door()
            let task = Task(executorPreference: executor) {
                await withTaskGroup(of: Void.self) { _ in
                    executor.queue.suspend()
                    isSuspended.open()
                    return await value.async.highestPriority.update { number in
                        await Task.yield()
                        number += 1
                        return number
                    }
                }
            }
            isSuspended.waitUntilOpen()
            return (task, value.wait(timeout: Self.long).lowestPriority.set { $0 += 10 })
        }
        #expect(answer == .success(10))
        executor.queue.resume()
        #expect(await task.value == .success(11))
    }

    @Test func `Nor does one for a submitted async closure, while all threads of the pool are blocked`() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 60)
            try await onThreadOfItsOwn {
                let (value, isOver, blocked) = (QueueSafeValue(value: 0), Door(), Log<Void>())
                func block() {
                    blocked.add(())
                    isOver.waitUntilOpen()
                }
                let threads = ProcessInfo.processInfo.activeProcessorCount
                for _ in 0..<threads * 4 { Task.detached { block() } }
                try poll("the pool is full") { blocked.count >= threads }
                let blocker = Blocker(value)
                value.async.highestPriority.submit { number in
                    await Task.yield()
                    number += 1
                }
                value.async.lowestPriority.submit { $0 *= 2 }
                blocker.end()
                let answer = value.wait(timeout: .seconds(20)).lowestPriority.set { $0 += 10 }
                precondition(answer == .success(10), "\(answer)")
                isOver.open()
                // In their order, however late the first was.
                try poll("the closures run") { value.wait.lowestPriority.get() == .success(22) }
            }
        }
    }

    @Test
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func `Fifty late tasks are waited for together`() async throws {
        var policy = HandoffPolicy()
        policy.keeping = 500_000_000
        policy.keepingLimit = 500_000_000
        let (value, executor) = (QueueSafeValue(value: 0, policy: policy), QueueExecutor())
        let (tasks, answer) = try await onThreadOfItsOwn {
            let blocker = Blocker(value)
            let tasks = (0..<50).map { _ in Self.task(on: executor, adding: 1, to: value) }
            try value.waitForPending(50)
            executor.suspend()
            blocker.end()
            return (tasks, value.wait(timeout: Self.long).lowestPriority.set { $0 += 100 })
        }
        #expect(answer == .success(100))
        executor.queue.resume()
        var answers: Set<Int> = []
        for task in tasks { if case .success(let number) = await task.value { answers.insert(number) } }
        #expect(answers == Set(101...150))
    }

    @Test
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func `A task that goes on late has its old place in line`() async throws {
        var policy = HandoffPolicy()
        policy.keeping = 50_000_000
        policy.keepingLimit = 600_000_000_000
        let (value, executor) = (QueueSafeValue(value: [Int](), policy: policy), QueueExecutor())
        let answer = try await onThreadOfItsOwn {
            let first = Blocker(value)
            Task(executorPreference: executor) { await Self.append(1, to: value) }
            try value.waitForPending(1)
            executor.suspend()
            first.end()
            // It loses its place.
            let isFree = value.wait(timeout: Self.long).lowestPriority.get()
            guard isFree == .success([]) else { return isFree }
            let second = Blocker(value)
            OwnThreads.run { await Self.append(2, to: value) }
            try value.waitForPending(2)
            // When the late task has looked for the turn, and is in line again.
            let isInLine = Door()
            executor.queue.async(flags: .barrier) { isInLine.open() }
            executor.queue.resume()
            isInLine.waitUntilOpen()
            second.end()
            try poll("both have run") { value.wait.lowestPriority.map(\.count) == .success(2) }
            return value.wait.lowestPriority.get()
        }
        #expect(answer == .success([1, 2]))
    }

    @Test("A task that is cancelled, or whose time is over, while it is late does not begin", arguments: [true, false])
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func ended(isCancelled: Bool) async throws {
        let (value, executor, begun) = (QueueSafeValue(value: 0), QueueExecutor(), Log<Void>())
        let task = try await onThreadOfItsOwn {
            let blocker = Blocker(value)
            let task = Task.detached(executorPreference: executor) {
                await value.async(timeout: isCancelled ? .never : .seconds(1)).lowestPriority.set { number in
                    begun.add(())
                    await Task.yield()
                    number += 1
                }
            }
            try value.waitForPending(1)
            executor.suspend()
            blocker.end()
            if isCancelled { task.cancel() }
            try value.waitForPending(0)
            executor.queue.resume()
            return task
        }
        #expect(await task.value == .failure(isCancelled ? .cancelled : .timedOut))
        #expect(begun.count == 0)
        #expect(await value.async.lowestPriority.get() == .success(0))
    }

    @Test func `Tasks and submissions that are cancelled as their turn comes hold up nothing, 2,000 times`() async {
        let value = QueueSafeValue(value: 0)
        for round in 0..<2_000 {
            let first = value.async.lowestPriority.submit { number in
                await Task.yield()
                number += 1
            }
            let task = Task {
                await value.async.lowestPriority.set { number in
                    await Task.yield()
                    number += 1
                }
            }
            if round % 2 == 0 { await Task.yield() }
            first.cancel()
            task.cancel()
            let last = value.async.lowestPriority.submit { number in
                await Task.yield()
                return number
            }
            guard case .success = await last.value else {
                Issue.record("round \(round)")
                return
            }
            _ = await task.value
        }
        #expect(value.pendingCommandCount == 0)
    }

    /// The runtime has a lock for each task, which is held while a cancelled task leaves the line, and while a task is
    /// resumed.
    @Test func `Tasks that are cancelled while others get their turn hang nothing, 100 times`() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 60)
            try await onThreadOfItsOwn {
                for _ in 0..<100 {
                    let value = QueueSafeValue(value: 0)
                    value.suspend()
                    let tasks = (0..<20).map { _ in Task.detached { await Self.increment(value) } }
                    try value.waitForPending(20)
                    // The tasks are late, and waited for together.
                    for _ in 0..<4 { Task.detached { Self.compute(nanoseconds: 2_000_000) } }
                    value.resume()
                    let group = DispatchGroup()
                    for half in 0..<2 {
                        DispatchQueue.global().async(group: group) {
                            for (number, task) in tasks.enumerated() where number % 2 == half { task.cancel() }
                        }
                    }
                    group.wait()
                    try value.waitForPending(0)
                }
            }
        }
    }

    /// Who has the turn cancels the task, which is about to get it, and perhaps looks for it already.
    @Test func `A task that is cancelled with the turn before its own does not begin, 10,000 times`() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 60)
            try await onThreadOfItsOwn {
                var random = SeededRandom(seed: 1)
                for _ in 0..<10_000 {
                    let value = QueueSafeValue(value: false)
                    Self.waitForTurn(of: value) {
                        _ = await value.async.lowestPriority.set { (isCancelled: inout Bool) async in
                            precondition(!isCancelled, "It began.")
                        }
                    } meanwhile: { task in
                        Self.compute(nanoseconds: .random(in: 0..<60_000, using: &random))
                        value.wait.highestPriority.set { isCancelled in
                            isCancelled = true
                            task.cancel()
                        }
                    }
                    precondition(value.wait.lowestPriority.get() == .success(true))
                }
            }
        }
    }

    /// It runs under the same lock of the runtime. Each cancellation comes as the task gets its turn, more or less.
    @Test func `What a cancelled task is to do may wait for the value, 10,000 times`() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 60)
            try await onThreadOfItsOwn {
                var random = SeededRandom(seed: 1)
                let (value, handled) = (QueueSafeValue(value: 0), Protected(0))
                for _ in 0..<10_000 {
                    Self.waitForTurn(of: value) {
                        await Self.increment(value, handled)
                    } meanwhile: { task in
                        Self.compute(nanoseconds: .random(in: 0..<100_000, using: &random))
                        task.cancel()
                    }
                }
                precondition(handled.wrappedValue > 0)
            }
        }
    }

    /// The task is told that its command has begun, and cannot hear that before what is to be done has been done.
    @Test
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func `It may wait for a value whose command with a time-out the task awaits`() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 60)
            for isAsync in [false, true] {
                try await onThreadOfItsOwn {
                    let (first, second) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
                    let (blocker, executor) = (Blocker(second), QueueExecutor())
                    let task = Task(executorPreference: executor) {
                        await Self.awaitSubmitted(isAsync, second, inside: first)
                    }
                    try second.waitForPending(1)
                    // The task is suspended.
                    executor.queue.sync(flags: .barrier) {}
                    let canceller = RunningThread { task.cancel() }
                    try second.waitForPending(2)
                    blocker.end()
                    canceller.join()
                    try poll("the body has run") { first.wait.lowestPriority.get() == .success(1) }
                    precondition(second.wait.lowestPriority.get() == .success(11))
                }
            }
        }
    }

    #if os(Linux) && canImport(Glibc)
    /// The task is told that it has left the line, and not that its turn has come, which it was about to be.
    @Test("A task that is cancelled as its turn comes leaves no memory behind", .enabled(if: !isSanitized))
    func cancelledAtItsTurn() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 60)
            try await onThreadOfItsOwn {
                let value = QueueSafeValue(value: 0)
                func cancelOne() {
                    Self.waitForTurn(of: value) {
                        await Self.increment(value)
                    } meanwhile: {
                        $0.cancel()
                    }
                }
                for _ in 0..<1_000 { cancelOne() }
                let before = try residentBytes()
                let count = 20_000
                for _ in 0..<count { cancelOne() }
                let growth = try residentBytes() - before
                #expect(growth < 50 * count, "\(growth / count) bytes")
            }
        }
    }
    #endif

    /// Has a task run a command, does something as its turn comes, and returns when the command is over.
    private static func waitForTurn<Value: Sendable>(
        of value: QueueSafeValue<Value>,
        _ command: @escaping @Sendable () async -> Void,
        meanwhile body: (Task<Void, Never>) -> Void
    ) {
        value.suspend()
        let end = Door()
        let task = Task.detached {
            await command()
            end.open()
        }
        while value.pendingCommandCount == 0 { sched_yield() }
        value.resume()
        body(task)
        end.waitUntilOpen()
    }

    private static func increment(_ value: QueueSafeValue<Int>) async {
        await value.async.lowestPriority.set { (number: inout Int) async in number += 1 }
    }

    private static func increment(_ value: QueueSafeValue<Int>, _ handled: Protected<Int>) async {
        await withTaskCancellationHandler {
            await increment(value)
        } onCancel: {
            value.wait.highestPriority.set { $0 += 100 }
            handled.write { $0 += 1 }
        }
    }

    private static func awaitSubmitted(
        _ isAsync: Bool,
        _ second: QueueSafeValue<Int>,
        inside first: QueueSafeValue<Int>
    ) async {
        await first.async.lowestPriority.set { number in
            let commands = second.async(timeout: long).lowestPriority
            let command =
                isAsync ? commands.submit { (number: inout Int) async in number += 1 } : commands.submit { $0 += 1 }
            _ = await withTaskCancellationHandler {
                await command.value
            } onCancel: {
                second.wait.lowestPriority.set { $0 += 10 }
            }
            number += 1
        }
    }

    private static func compute(nanoseconds: Int) {
        let end = DispatchTime.now() + .nanoseconds(nanoseconds)
        while DispatchTime.now() < end {}
    }

    private static func append(_ number: Int, to value: QueueSafeValue<[Int]>) async {
        await value.async.lowestPriority.set { numbers in
            await Task.yield()
            numbers.append(number)
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private static func task(
        on executor: QueueExecutor,
        adding number: Int,
        to value: QueueSafeValue<Int>
    ) -> Task<Answer, Never> {
        Task(executorPreference: executor) {
            await value.async.highestPriority.update { sum in
                await Task.yield()
                sum += number
                return sum
            }
        }
    }
}
