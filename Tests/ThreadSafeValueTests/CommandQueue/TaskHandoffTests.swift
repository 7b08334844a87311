//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

/// A task that has its turn, and an executor that does not let it go on.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private struct HeldUpTask: Sendable {
    let value: QueueSafeValue<Int>
    let begun = Log<Void>()
    private let executor = QueueExecutor()
    private let task: Task<Answer, Never>

    init(_ value: QueueSafeValue<Int> = QueueSafeValue(value: 0)) throws {
        self.value = value
        let blocker = Blocker(value)
        task = Task.detached(executorPreference: executor) { [begun] in
            await value.async.lowestPriority.set { number in
                begun.add(())
                number += await one()
            }
        }
        try value.waitForPending(1)
        executor.queue.suspend()
        blocker.end()
        // The turn is handed to the task by a block.
        try value.waitForPending(0)
    }

    func cancel() { task.cancel() }

    /// Lets the task go on.
    func end() async -> Answer {
        executor.queue.resume()
        return await task.value
    }
}

private func one() async -> Int { 1 }

@Suite("A turn that is handed to a task")
struct TaskHandoffTests {
    /// The time-out is for a turn that is held for ever.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("A queue that stands still stalls nobody, nor does an executor of tasks", arguments: [0, 1, 5])
    func standingExecutor(waiting: Int) async throws {
        let task = try await onThreadOfItsOwn { try HeldUpTask() }
        let answers = try await onThreadOfItsOwn {
            let threads = (0..<waiting).map { _ in
                RunningThread { task.value.wait(timeout: .seconds(120)).lowestPriority.set { $0 += 10 } }
            }
            defer { threads.forEach { $0.join() } }
            return [
                task.value.wait(timeout: .seconds(120)).highestPriority.map { _ in task.begun.count },
                task.value.wait(timeout: .seconds(120)).lowestPriority.map { _ in task.begun.count },
            ]
        }
        #expect(answers == [.success(0), .success(0)])
        #expect(try await task.end().get() % 10 == 1)
        #expect(task.value.wait.lowestPriority.get() == .success(1 + 10 * waiting))
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("A task that comes too late stands in line again, though the value takes no other command")
    func standsInLineAgain() async throws {
        let task = try await onThreadOfItsOwn { try HeldUpTask(QueueSafeValue(value: 0, pendingCommandLimit: 1)) }
        let blocker = try await onThreadOfItsOwn { Blocker(task.value) }
        let other = Log<Answer>()
        let handle = task.value.async(performIn: .global()).highestPriority.set {
            $0 += 10
        } completion: {
            other.add($0)
        }
        #expect(handle.state == .waiting)
        async let answer = task.end()
        try await onThreadOfItsOwn { try task.value.waitForPending(2) }
        #expect(task.begun.count == 0)
        blocker.end()
        #expect(await answer == .success(11))
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("A task that is cancelled before its closure begins does not begin it", arguments: [false, true])
    func cancelled(isLate: Bool) async throws {
        let task = try await onThreadOfItsOwn { try HeldUpTask() }
        if isLate { _ = try await onThreadOfItsOwn { task.value.wait.lowestPriority.get() } }
        task.cancel()
        #expect(await task.end() == .failure(.cancelled))
        #expect(task.begun.count == 0)
        #expect(task.value.wait(timeout: .seconds(120)).lowestPriority.get() == .success(0))
    }

    /// The first task is late by a second, so the turn is kept for twice as long for the second one.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("An executor that was late is waited for the next time")
    func knownDelay() async throws {
        var policy = HandoffPolicy()
        policy.keepingLimit = 600_000_000_000
        let value = QueueSafeValue(value: 0, policy: policy)
        let late = try await onThreadOfItsOwn { try HeldUpTask(value) }
        try await Task.sleep(nanoseconds: 1_000_000_000)
        #expect(await late.end() == .success(1))
        let (next, answer) = try await onThreadOfItsOwn {
            (try HeldUpTask(value), value.wait(timeout: .milliseconds(100)).highestPriority.get())
        }
        #expect(answer == .failure(.timedOut))
        #expect(await next.end() == .success(2))
    }

    /// The turn is kept for 1 ms, and for a queue for up to 32 ms. Each task finds the turn kept for another one, but for
    /// those that the turn is kept for longer each time.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("Tasks of an executor that is later than any turn is kept for a queue are served", arguments: [0, 3])
    func slowExecutor(threads: Int) async throws {
        var policy = HandoffPolicy()
        (policy.keeping, policy.keepingLimit) = (1_000_000, 2_000_000)
        let (value, isOver) = (QueueSafeValue(value: 0, policy: policy), Protected(false))
        let executor = QueueExecutor(delay: .milliseconds(40))
        let blocker = try await onThreadOfItsOwn { Blocker(value) }
        let running = (0..<threads).map { _ in
            RunningThread { while !isOver.read({ $0 }) { value.wait.lowestPriority.set { _ in } } }
        }
        let tasks = (0..<20).map { _ in
            Task.detached(executorPreference: executor) {
                await value.async.lowestPriority.set { number in number += await one() }
            }
        }
        try await onThreadOfItsOwn { try poll("all in line") { value.pendingCommandCount == 20 + threads } }
        blocker.end()
        for task in tasks { #expect((try? await task.value.get()) != nil) }
        isOver.write(true)
        try await onThreadOfItsOwn { running.forEach { $0.join() } }
        #expect(value.wait.lowestPriority.get() == .success(20))
    }
}
