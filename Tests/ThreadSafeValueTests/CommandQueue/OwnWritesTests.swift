//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

/// Nobody else uses the value, so a command may only begin before an earlier one of its own thread when that one's
/// queue stood still for 5 ms. A read that comes sooner and does not see the write is a mistake; one that comes later
/// is not counted.
@Suite("Order: a thread sees its own writes")
struct OwnWritesTests {
    private static let rounds = 10_000
    private static let excuse: UInt64 = 4_500_000

    enum Pair: CaseIterable, Sendable {
        case lowestAndLowest
        case highestAndLowest
        case highestAndHighest
        case mediumAndLow
        case manual
        case timed
        case member
    }

    @Test(
        "What it has submitted to a queue is done before what it waits for, 10,000 times of 10,000",
        arguments: Pair.allCases
    )
    func thread(pair: Pair) throws {
        let (stale, late) = try inTime {
            let store = Store()
            var (stale, late) = (0, 0)
            for round in 1...Self.rounds {
                let begin = nanoseconds()
                let answer = store.writeAndRead(pair)
                if answer == .success(round) { continue }
                if nanoseconds() < begin + Self.excuse { stale += 1 } else { late += 1 }
                // Nothing is left from one round to the next.
                store.queue.sync {}
                _ = try poll("the write is done") { store.value.wait.lowestPriority.get() == .success(round) }
            }
            return (stale, late)
        }
        #expect(stale == 0, "And \(late) late")
    }

    /// Two queues, which may start in any order: the commands for one of them go before those for the other, as they
    /// came.
    @Test("Also of two queues, each of which it has given a command")
    func twoQueues() throws {
        let stale = try inTime {
            let value = QueueSafeValue(value: 0)
            let queues = (0..<2).map { DispatchQueue(label: "\($0)") }
            var stale = 0
            for round in 1...Self.rounds / 2 {
                let begin = nanoseconds()
                for queue in queues { value.async(performIn: queue).lowestPriority.set { $0 += 1 } }
                let answer = value.wait.lowestPriority.get()
                if answer == .success(2 * round) { continue }
                if nanoseconds() < begin + Self.excuse { stale += 1 }
                try poll("the writes are done") { value.wait.lowestPriority.get() == .success(2 * round) }
            }
            return stale
        }
        #expect(stale == 0)
    }

    /// The task may go on in another thread than the one on which it has submitted its command.
    @Test("A task sees its own writes, wherever it goes on", arguments: [false, true])
    func task(suspends: Bool) async throws {
        let stale = Protected(0)
        let end = DispatchSemaphore(value: 0)
        OwnThreads.run {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            for round in 1...Self.rounds / 2 {
                let begin = nanoseconds()
                value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                if suspends { await Task.yield() }
                let answer = await value.async.lowestPriority.get()
                if answer == .success(round) { continue }
                if nanoseconds() < begin + Self.excuse { stale.write { $0 += 1 } }
                while await value.async.lowestPriority.get() != .success(round) {}
            }
            end.signal()
        }
        try await onThreadOfItsOwn { try inTime { end.wait() } }
        #expect(stale.wrappedValue == 0)
    }

    /// In a task group the body runs in a child of the task, as it must not run in the task itself there.
    @Test("A task sees what a body that it awaits has submitted, also in a task group")
    func body() async throws {
        let stale = Protected(0)
        let end = DispatchSemaphore(value: 0)
        OwnThreads.run {
            let (outer, value) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
            let queue = DispatchQueue(label: "target")
            await withTaskGroup(of: Void.self) { _ in
                for round in 1...Self.rounds / 10 {
                    let begin = nanoseconds()
                    await outer.async.lowestPriority.set { (_: inout Int) async in
                        value.async(performIn: queue).lowestPriority.set(newValue: round)
                    }
                    let answer = await value.async.lowestPriority.get()
                    if answer == .success(round) { continue }
                    if nanoseconds() < begin + Self.excuse { stale.write { $0 += 1 } }
                    while await value.async.lowestPriority.get() != .success(round) {}
                }
            }
            end.signal()
        }
        try await onThreadOfItsOwn { try inTime { end.wait() } }
        #expect(stale.wrappedValue == 0)
    }

    @Test("A thread sees what a task has submitted on it, as on the main thread")
    func mainThread() async throws {
        let value = QueueSafeValue(value: 0)
        let queue = DispatchQueue(label: "target")
        for round in 1...Self.rounds / 20 {
            let begin = nanoseconds()
            await MainActor.run { _ = value.async(performIn: queue).lowestPriority.set(newValue: round) }
            let answer = await MainActor.run { value.wait.lowestPriority.get() }
            if answer != .success(round) { #expect(nanoseconds() >= begin + Self.excuse) }
            try await onThreadOfItsOwn { queue.sync {} }
        }
    }

    /// Newcomers may barge for as long as the test takes, and the target queue does not start before they had time for
    /// it.
    private static var bargingPolicy: HandoffPolicy {
        var policy = HandoffPolicy.unbounded
        policy.barging = policy.keeping
        return policy
    }

    /// The queue starts when the thread stands in line.
    @Test("A thread sees what a task has submitted on it before")
    func threadOfTask() throws {
        let answer = try inTime {
            let value = QueueSafeValue(value: 0, policy: Self.bargingPolicy)
            let queue = DispatchQueue(label: "target")
            queue.suspend()
            let resident = Resident()
            OwnThreads.run { await resident.submit(value, queue) }
            try poll("the task has a job for this thread") { resident.jobs.run() }
            let answers = Log<Result<Int, QueueSafeValueError>>()
            let starter = RunningThread {
                try? poll("the thread waits, or has its answer") {
                    value.pendingCommandCount == 2 || answers.count == 1
                }
                queue.resume()
            }
            answers.add(value.wait.lowestPriority.get())
            starter.join()
            return answers.entries[0]
        }
        #expect(answer == .success(1))
    }

    /// In a task group the body is a child of the task, and it submits on the main thread, where the task is not.
    @Test("A task sees what a body that it awaits has submitted on another thread")
    func bodyElsewhere() async throws {
        let (outer, value) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0, policy: Self.bargingPolicy))
        let queue = DispatchQueue(label: "target")
        let answers = Log<Result<Int, QueueSafeValueError>>()
        queue.suspend()
        OwnThreads.run {
            await withTaskGroup(of: Void.self) { _ in
                await outer.async.lowestPriority.set { (_: inout Int) async in
                    await MainActor.run { _ = value.async(performIn: queue).lowestPriority.set(newValue: 1) }
                }
                answers.add(await value.async.lowestPriority.get())
            }
        }
        try await onThreadOfItsOwn {
            try poll("the task waits, or has its answer") { value.pendingCommandCount == 2 || answers.count == 1 }
            queue.resume()
            try poll("the task has its answer") { answers.count == 1 }
        }
        #expect(answers.entries == [.success(1)])
    }

    /// The closure stands in line, and so runs on a global queue, where there is no task.
    @Test(
        "A task sees what a closure that it awaits has submitted elsewhere, and the closure what the task has",
        arguments: [false, true],
        [false, true]
    )
    func closureElsewhere(submits: Bool, isInBody: Bool) async throws {
        let (outer, value) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0, policy: Self.bargingPolicy))
        let queue = DispatchQueue(label: "target")
        let answers = Log<Result<Int, QueueSafeValueError>>()
        queue.suspend()
        let blocker = Blocker(outer)
        @Sendable func use() async {
            let submit = { @Sendable in _ = value.async(performIn: queue).lowestPriority.set(newValue: 1) }
            if !submits { submit() }
            await outer.async.lowestPriority.set { _ in
                if submits { submit() } else { answers.add(value.wait.lowestPriority.get()) }
            }
            if submits { answers.add(await value.async.lowestPriority.get()) }
        }
        OwnThreads.run {
            guard isInBody else { return await use() }
            await QueueSafeValue(value: 0).async.lowestPriority.set { (_: inout Int) async in await use() }
        }
        try await onThreadOfItsOwn {
            try outer.waitForPending(1)
            blocker.end()
            try poll("the second waits, or has its answer") { value.pendingCommandCount == 2 || answers.count == 1 }
            queue.resume()
            try poll("the second has its answer") { answers.count == 1 }
        }
        #expect(answers.entries == [.success(1)])
    }

    /// The main thread waits behind its own submission to itself; so does a serial queue. It gets its turn after the
    /// bound.
    @Test("A thread that waits behind its own command for the queue that it blocks goes on all the same")
    func ownQueue() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            return queue.sync {
                (0..<20).map { _ in
                    value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                    return value.wait.lowestPriority.get()
                }
            }
        }
        #expect(answers == Array(repeating: .success(0), count: 20))
    }
}

/// Submits on the thread that runs its jobs.
private actor Resident {
    let jobs = Jobs()

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe jobs.asUnownedSerialExecutor() }

    func submit(_ value: QueueSafeValue<Int>, _ queue: DispatchQueue) {
        value.async(performIn: queue).lowestPriority.set(newValue: 1)
    }
}

/// As programs have it: the value is a member, and the commands are in methods.
private final class Store: Sendable {
    let value = QueueSafeValue(value: 0)
    let queue = DispatchQueue(label: "store")

    func writeAndRead(_ pair: OwnWritesTests.Pair) -> Result<Int, QueueSafeValueError> {
        let schedule = value.async(performIn: queue)
        switch pair {
        case .lowestAndLowest:
            schedule.lowestPriority.set { $0 += 1 }
            return value.wait.lowestPriority.get()
        case .highestAndLowest:
            schedule.highestPriority.set { $0 += 1 }
            return value.wait.lowestPriority.get()
        case .highestAndHighest:
            schedule.highestPriority.set { $0 += 1 }
            return value.wait.highestPriority.get()
        case .mediumAndLow:
            schedule.mediumPriority.set {
                $0 += 1
            } completion: { _ in
            }
            return value.wait.lowPriority.map { $0 }
        case .manual:
            schedule.lowestPriority.set {
                $0 += 1; $1()
            }
            return value.wait.lowestPriority.get { _, done in done() }
        case .timed:
            schedule.lowestPriority.set { $0 += 1 }
            return value.wait(timeout: .seconds(60)).lowestPriority.get()
        case .member:
            increment()
            return number()
        }
    }

    private func increment() {
        value.async(performIn: .userInitiated).lowestPriority.set { $0 += 1 }
    }

    private func number() -> Result<Int, QueueSafeValueError> {
        value.wait.lowestPriority.get()
    }
}
