//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("The promises of a queue-safe value")
struct PromiseTests {
    @TaskLocal private static var name = -1
    private static let key = DispatchSpecificKey<Int>()

    // MARK: 1, one at a time

    @Test("Promise 1: on threads, queues and in tasks, in all forms, nobody is inside of a command twice")
    func oneAtATime() async throws {
        let value = QueueSafeValue(value: 0)
        let inside = Inside()
        let tasks = (0..<4).map { _ in
            OwnThreads.run {
                for _ in 0..<30 {
                    await value.async.lowestPriority.set { _ in inside.visit() }
                    await value.async.highestPriority.set { _ in
                        inside.enter()
                        await Task.yield()
                        inside.leave()
                    }
                    _ = await value.async.mediumPriority.map { _ in inside.visit() }
                    await value.async.lowestPriority.update { _ in
                        inside.enter()
                        await Task.yield()
                        inside.leave()
                    }
                }
            }
        }
        try await onThreadOfItsOwn {
            try inTime {
                let serial = DispatchQueue(label: "serial")
                let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
                let group = DispatchGroup()
                onThreads(3) { index in
                    let queue = index == 0 ? serial : concurrent
                    for _ in 0..<30 {
                        for _ in 0..<2 { group.enter() }
                        value.async(performIn: queue).lowestPriority.set { _ in
                            inside.visit()
                        } completion: { _ in
                            group.leave()
                        }
                        value.async(performIn: queue).highestPriority.set { _, done in
                            inside.enter()
                            concurrent.async {
                                inside.leave()
                                done()
                            }
                        } completion: { _ in
                            group.leave()
                        }
                        value.wait.lowestPriority.set { _ in inside.visit() }
                        value.wait.highestPriority.get { _ in inside.visit() }
                        value.wait.mediumPriority.set { _, done in
                            inside.enter()
                            serial.async {
                                inside.leave()
                                done()
                            }
                        }
                        withLocked(value, QueueSafeValue(value: 0)) { _, _ in inside.visit() }
                    }
                }
                group.wait()
            }
        }
        for task in tasks { await task.value }
        #expect(inside.visits == 4 * 30 * 4 + 3 * 30 * 6)
        #expect(inside.wasNeverShared)
    }

    // MARK: 2, order

    @Test("Promise 2: the most urgent first, and the first that came among equals, on one queue")
    func orderOnOneQueue() throws {
        let ran = Log<Int>()
        let priorities = (0..<200).map { CommandPriority.allCases[$0 * 3 % 5] }
        try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            let group = DispatchGroup()
            let blocker = Blocker(value)
            for index in priorities.indices {
                group.enter()
                value.async(performIn: queue).priority(priorities[index]).set { _ in
                    ran.add(index)
                    group.leave()
                }
            }
            blocker.end()
            group.wait()
        }
        #expect(ran.entries == Self.order(of: priorities))
    }

    /// A queue that is late lets others go first, so one round in order is enough: without an order there is none.
    @Test("Promise 2: so on several queues, with threads and tasks among them")
    func orderOnSeveralQueues() throws {
        let priorities = (0..<20).map { CommandPriority.allCases[$0 * 3 % 5] }
        let isInOrder = try inTime {
            for _ in 0..<20 {
                let value = QueueSafeValue(value: 0)
                let queues = (0..<2).map { DispatchQueue(label: "\($0)") }
                let ran = Log<Int>()
                let blocker = Blocker(value)
                for index in priorities.indices {
                    let priority = priorities[index]
                    switch index % 4 {
                    case 0: _ = RunningThread { value.wait.priority(priority).set { _ in ran.add(index) } }
                    case 1: OwnThreads.run { await value.async.priority(priority).set { _ in ran.add(index) } }
                    default: value.async(performIn: queues[index % 2]).priority(priority).set { _ in ran.add(index) }
                    }
                    // The next comes when this one stands in line.
                    try value.waitForPending(index + 1)
                }
                for queue in queues { queue.sync {} }
                blocker.end()
                try poll("all have run") { ran.count == priorities.count }
                if ran.entries == Self.order(of: priorities) { return true }
            }
            return false
        }
        #expect(isInOrder)
    }

    private static func order(of priorities: [CommandPriority]) -> [Int] {
        CommandPriority.allCases.reversed().flatMap { level in priorities.indices.filter { priorities[$0] == level } }
    }

    // MARK: 3, place

    @Test("Promise 3: a `wait` closure runs on the thread that called, an `async` one and its completion on its queue")
    func place() throws {
        let misplaced = Log<String>()
        try inTime { [key = Self.key] in
            let value = QueueSafeValue(value: 0)
            let queues = (0..<4).map { index in
                let queue = DispatchQueue(label: "\(index)")
                queue.setSpecific(key: key, value: index)
                return queue
            }
            let group = DispatchGroup()
            onThreads(4) { index in
                let check: @Sendable (String) -> Void = { text in
                    if DispatchQueue.getSpecific(key: key) != index { misplaced.add(text) }
                }
                for _ in 0..<100 {
                    let caller = ThreadID.current
                    for _ in 0..<2 { group.enter() }
                    value.async(performIn: queues[index]).lowestPriority.set { _ in
                        check("async")
                    } completion: { _ in
                        check("completion")
                        group.leave()
                    }
                    value.async(performIn: queues[index]).highestPriority.set { _, done in
                        check("manual")
                        queues[(index + 1) % 4].async { done() }
                    } completion: { _ in
                        check("manual's completion")
                        group.leave()
                    }
                    value.wait.lowestPriority.set { _ in if ThreadID.current != caller { misplaced.add("wait") } }
                    value.wait.highestPriority.get { _ in if ThreadID.current != caller { misplaced.add("get") } }
                    value.wait.mediumPriority.set { _, done in
                        if ThreadID.current != caller { misplaced.add("wait, manual") }
                        done()
                    }
                }
            }
            group.wait()
        }
        #expect(misplaced.entries.isEmpty)
    }

    @Test("Promise 3: an awaited closure runs in the task that awaits it, with its task-local values")
    func taskLocalValues() async {
        let value = QueueSafeValue(value: 0)
        let kept = Protected(0)
        let tasks = (0..<8).map { index in
            Self.$name.withValue(index) {
                OwnThreads.run {
                    for _ in 0..<50 {
                        await value.async.lowestPriority.set { _ in
                            if Self.name == index { kept.write { $0 += 1 } }
                        }
                        await value.async.lowestPriority.set { _ in
                            // So that the others stand in line.
                            await Task.yield()
                            if Self.name == index { kept.write { $0 += 1 } }
                        }
                    }
                }
            }
        }
        for task in tasks { await task.value }
        #expect(kept.wrappedValue == 800)
    }

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

/// What commands use together, and nothing guards but their turn.
private final class Inside: @unchecked Sendable {
    private(set) var visits = 0
    private(set) var wasNeverShared = true
    private var isVisited = false

    func enter() {
        if isVisited { wasNeverShared = false }
        isVisited = true
        visits += 1
    }

    func leave() {
        if !isVisited { wasNeverShared = false }
        isVisited = false
    }

    func visit() {
        enter()
        sched_yield()
        leave()
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
