//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("QueueSafeValue, a circle that is none")
struct FaultFalseCircleTests {
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
