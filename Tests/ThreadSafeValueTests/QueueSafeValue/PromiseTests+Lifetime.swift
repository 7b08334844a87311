//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

extension PromiseTests {
    // MARK: 4, async blocks nobody

    @Test("Promise 4: submitting returns while the turn is taken, and the queues are free meanwhile")
    func submittingBlocksNobody() throws {
        let answer = try inTime {
            let value = QueueSafeValue(value: 0)
            let queues = (0..<8).map { DispatchQueue(label: "\($0)") }
            let answer = value.wait.highestPriority.set { number in
                for queue in queues {
                    for _ in 0..<10 {
                        value.async(performIn: queue).highestPriority.set { $0 += 1 }
                        value.async(performIn: queue).lowestPriority.set { number, done in
                            number += 1
                            DispatchQueue.global().async(execute: done)
                        }
                    }
                }
                for queue in queues { queue.sync { number += 0 } }
            }
            try poll("all have run") { value.wait.lowestPriority.get() == .success(160) }
            return answer
        }
        #expect(answer == .success(0))
    }

    /// In the shared pool, which has a thread for each processor.
    @Test("Promise 4: no thread of the cooperative pool waits for a turn")
    func poolIsFree() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let value = QueueSafeValue(value: 0)
            value.suspend()
            let tasks = (0..<200).map { index in
                Task {
                    if index % 2 == 0 {
                        await value.async.lowestPriority.set { $0 += 1 }
                    } else {
                        await value.async.lowestPriority.set {
                            await Task.yield()
                            $0 += 1
                        }
                    }
                }
            }
            while value.pendingCommandCount() < 200 { await Task.yield() }
            value.resume()
            for task in tasks { _ = await task.value }
            #expect(await value.async.lowestPriority.get() == .success(200))
        }
        #expect(result?.crashMessage != "It hung.")
    }

    // MARK: 5, a queue that stands stalls nobody

    @Test("Promise 5: queues that stand stall no thread, no other queue and no task")
    func standingQueues() async throws {
        let value = QueueSafeValue(value: 0)
        let standing = (0..<3).map { DispatchQueue(label: "stands \($0)") }
        for queue in standing {
            queue.suspend()
            value.async(performIn: queue).highestPriority.set { $0 += 100 }
        }
        let task = OwnThreads.run { await value.async.lowestPriority.set { $0 += 1 } }
        try await onThreadOfItsOwn {
            try inTime {
                let isDone = Door()
                value.async(performIn: DispatchQueue(label: "runs")).lowestPriority.set {
                    $0 += 1
                } completion: { _ in
                    isDone.open()
                }
                value.wait.lowestPriority.set { $0 += 1 }
                isDone.waitUntilOpen()
            }
        }
        await task.value
        #expect(await value.async.lowestPriority.get() == .success(3))
        for queue in standing { queue.resume() }
        try await onThreadOfItsOwn { try poll("all have run") { value.wait.lowestPriority.get() == .success(303) } }
    }

    @Test("Promise 5: a task whose executor stands keeps no turn")
    func standingExecutor() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        let value = QueueSafeValue(value: 0)
        let executor = QueueExecutor()
        let answer = try await onThreadOfItsOwn {
            try inTime {
                let blocker = Blocker(value)
                Task(executorPreference: executor) { await value.async.highestPriority.set { $0 += 10 } }
                try value.waitForPending(1)
                executor.suspend()
                blocker.end()
                let answer = value.wait.lowestPriority.set { $0 += 1 }
                executor.queue.resume()
                try poll("the task goes on") { value.wait.lowestPriority.get() == .success(11) }
                return answer
            }
        }
        #expect(answer == .success(1))
    }

    // MARK: 6, lifetime

    @Test("Promise 6: a command on an array's element at its last use, or on a temporary, succeeds")
    func lastUse() async throws {
        let answers = try inTime {
            let answers = Log<Answer>()
            let group = DispatchGroup()
            for _ in 0..<2 { group.enter() }
            let values = [QueueSafeValue(value: 1), QueueSafeValue(value: 2)]
            let others = [QueueSafeValue(value: 3)]
            answers.add(values[1].wait.lowestPriority.set { $0 += 10 })
            answers.add(QueueSafeValue(value: 4).wait.highestPriority.set { $1() })
            others[0].async(performIn: .utility).lowestPriority.set {
                $0 += 10
            } completion: {
                answers.add($0)
                group.leave()
            }
            QueueSafeValue(value: 5).async(performIn: .utility).lowestPriority.get {
                answers.add($0)
                group.leave()
            }
            group.wait()
            return answers.entries
        }
        #expect(answers.compactMap { try? $0.get() }.sorted() == [4, 5, 12, 13])
        #expect(await [QueueSafeValue(value: 6)][0].async.lowestPriority.set { $0 += 10 } == .success(16))
        let awaited = await QueueSafeValue(value: 7).async.lowestPriority.set {
            await Task.yield()
            $0 += 10
        }
        #expect(awaited == .success(17))
    }

    @Test("Promise 6: what was accepted is done after the last handle is gone")
    func acceptedIsDone() throws {
        let tally = Counted.Tally()
        let ran = Log<Int>()
        try inTime {
            let queue = DispatchQueue(label: "stands")
            queue.suspend()
            do {
                let value = QueueSafeValue(value: Counted(7, tally: tally))
                for _ in 0..<3 { value.async(performIn: queue).lowestPriority.set { ran.add($0.id) } }
            }
            queue.resume()
            try poll("the value is gone") { tally.alive == 0 }
        }
        #expect(ran.entries == [7, 7, 7])
    }

    @Test("Promise 6: commands of a suspended value that goes answer that it is gone, and never run")
    func suspendedGoes() async throws {
        let (answers, ran) = (Log<Answer>(), Log<Int>())
        var handle: CommandHandle<Int>
        do {
            let value = QueueSafeValue(value: 0)
            value.suspend()
            handle = value.async(performIn: .utility).lowestPriority.update {
                ran.add(1)
                return $0
            } completion: {
                answers.add($0)
            }
        }
        #expect(await handle.value == .failure(.valueContainerDeinited))
        try await onThreadOfItsOwn { try poll("it is told") { answers.count == 1 } }
        #expect(answers.entries == [.failure(.valueContainerDeinited)])
        #expect(ran.count == 0)
    }

    @Test(
        "Promise 6: a handle answers of commands that are done, threw, were cancelled, refused, or found the value full"
    )
    func handles() async {
        struct Thrown: Error {}
        let value = QueueSafeValue(value: 1, pendingCommandLimit: 4)
        value.suspend()
        let commands = value.async(performIn: .utility).lowestPriority
        let done = commands.update { (number: inout Int) -> Int in
            number += 1
            return number
        }
        let thrown = commands.update { (_: inout Int) -> Int in throw Thrown() }
        let set = commands.set { $0 += 1 }
        let cancelled = commands.update { $0 }
        let full = commands.update { $0 }
        #expect(full.state == .refused)
        #expect(await full.value == .failure(.commandQueueFull))
        #expect(cancelled.cancel())
        #expect(await cancelled.value == .failure(.cancelled))
        #expect(done.state == .waiting)
        value.resume()
        #expect(await done.value == .success(2))
        #expect(await thrown.value == .failure(.unexpected(error: Thrown())))
        #expect((try? await set.value.get()) != nil)
        #expect(await value.async.lowestPriority.get() == .success(3))
        // Again, when all is over.
        #expect(await done.value == .success(2))
        #expect(await cancelled.value == .failure(.cancelled))
    }

    // MARK: 8, nothing leaks

    @Test("Promise 8: values, and what commands of all kinds captured, are gone when these are over")
    func nothingLeaks() async throws {
        struct Thrown: Error {}
        let (values, captured) = (Counted.Tally(), Counted.Tally())
        do {
            let value = QueueSafeValue(value: Counted(tally: values))
            let change: @Sendable (inout Counted, Counted) -> Void = { counted, object in
                counted = Counted(counted.id + object.id, tally: values)
            }
            let task = OwnThreads.run {
                for _ in 0..<50 {
                    let object = Counted(tally: captured)
                    await value.async.lowestPriority.set { change(&$0, object) }
                    await value.async.highestPriority.set {
                        await Task.yield()
                        change(&$0, object)
                    }
                    await value.async(timeout: .seconds(0)).lowestPriority.set { change(&$0, object) }
                    let handle = value.async(performIn: .utility).lowestPriority.update { _ in object }
                    _ = await handle.value
                    let cancelled = Task { await value.async.lowestPriority.set { change(&$0, object) } }
                    cancelled.cancel()
                    _ = await cancelled.value
                }
            }
            try await onThreadOfItsOwn {
                try inTime {
                    let queues = (0..<3).map { DispatchQueue(label: "\($0)") }
                    onThreads(2) { index in
                        for round in 0..<50 {
                            let object = Counted(tally: captured)
                            let commands = value.async(performIn: queues[round % 3]).lowestPriority
                            commands.set { change(&$0, object) }
                            commands.set {
                                change(&$0, object)
                                throw Thrown()
                            } completion: { _ in
                                withExtendedLifetime(object) {}
                            }
                            commands.set(newValue: Counted(tally: values)) { _ in withExtendedLifetime(object) {} }
                            commands.set { _, done in queues[index].async { withExtendedLifetime(object) { done() } } }
                            commands.set { _, _ in withExtendedLifetime(object) {} }
                            commands.get { _ in withExtendedLifetime(object) {} }
                            commands.set { change(&$0, object) }.cancel()
                            value.wait.lowestPriority.set { change(&$0, object) }
                            value.wait.lowestPriority.set { _, done in withExtendedLifetime(object) { done() } }
                            value.wait.lowestPriority.set { _, _ in withExtendedLifetime(object) {} }
                            value.wait.lowestPriority.set { _ in throw Thrown() }
                            value.wait(timeout: .seconds(0)).highestPriority.set { change(&$0, object) }
                            withLocked(value, QueueSafeValue(value: object)) { change(&$0, $1) }
                        }
                    }
                }
            }
            await task.value
        }
        do {
            let value = QueueSafeValue(value: Counted(tally: values))
            value.suspend()
            let object = Counted(tally: captured)
            value.async(performIn: .utility).lowestPriority.get { _ in withExtendedLifetime(object) {} }
        }
        try await onThreadOfItsOwn { try poll("all are gone") { values.alive == 0 && captured.alive == 0 } }
    }
}
