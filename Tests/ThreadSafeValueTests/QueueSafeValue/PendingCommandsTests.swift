//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("Pending commands are counted, bounded and cancelled")
struct PendingCommandsTests {
    enum Ending: CaseIterable, Sendable {
        case cancelled, allCancelled, letGo
    }

    /// What the first command captured waits for both to be told.
    @Test("What commands captured goes away when all have been told", arguments: Ending.allCases)
    func captured(by ending: Ending) throws {
        let gone = try inTime {
            let gone = Log<Int>()
            for round in 0..<10 {
                var value: QueueSafeValue<Int>? = QueueSafeValue(value: 0)
                value?.suspend()
                // One lane if the value goes away, as each has a block of its own then.
                let queues = ["first", ending == .letGo ? "first" : "second"].map { DispatchQueue(label: $0) }
                let targets = ending == .letGo ? [queues[0], queues[0]] : queues
                let told = ending == .cancelled ? [Door()] : [Door(), Door()]
                var handles: [CommandHandle<Void>] = []
                for (number, door) in told.enumerated() {
                    let last =
                        number > 0
                        ? nil
                        : Last {
                            told.forEach { $0.waitUntilOpen() }
                            gone.add(round)
                        }
                    handles.append(
                        value!.async(performIn: targets[number]).lowestPriority.set { _ in
                            withExtendedLifetime(last) {}
                        } completion: { _ in
                            door.open()
                        }
                    )
                }
                switch ending {
                case .cancelled: handles[0].cancel()
                case .allCancelled: value?.cancelAllPendingCommands()
                case .letGo: value = nil
                }
                try poll("the capture has gone") { gone.count == round + 1 }
            }
            return gone.count
        }
        #expect(gone == 10)
    }

    @Test("What commands captured goes away before cancelAllPendingCommands() returns, though their queue stands still")
    func captured() {
        let (value, gone) = (QueueSafeValue(value: 0), Log<Int>())
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        for number in 0..<3 {
            let last = Last { gone.add(number) }
            value.async(performIn: queue).lowestPriority.set { _ in withExtendedLifetime(last) {} }
        }
        value.cancelAllPendingCommands()
        #expect(gone.entries.sorted() == [0, 1, 2])
        queue.resume()
    }

    @Test func `Commands that wait are counted for each priority`() {
        let value = QueueSafeValue(value: 0)
        value.suspend()
        let queue = DispatchQueue(label: "counted")
        for _ in 0..<3 { value.async(performIn: queue).lowestPriority.set { $0 += 1 } }
        let handle = value.async(performIn: .utility).highPriority.set { $0 += 1 }
        #expect(value.pendingCommandCount() == 4)
        #expect(value.pendingCommandCount(.lowest) == 3)
        #expect(value.pendingCommandCount(.high) == 1)
        #expect(value.pendingCommandCount(.medium) == 0)
        handle.cancel()
        #expect(value.pendingCommandCount(.high) == 0)
        value.resume()
        queue.sync {}
        #expect(value.wait.lowestPriority.get() == .success(3))
        #expect(value.pendingCommandCount() == 0)
    }

    /// The lane of the queue stays, as not all of its commands leave it. It is waited for, however late it is.
    @Test func `A command that leaves is not counted for its priority any more`() throws {
        let value = QueueSafeValue(value: 0)
        value.suspend()
        let queue = DispatchQueue(label: "counted")
        let handles = (0..<3).map { _ in value.async(performIn: queue).lowestPriority.set { $0 += 1 } }
        value.async(performIn: queue).highPriority.set { $0 += 1 }
        handles[1].cancel()
        #expect(value.pendingCommandCount(.lowest) == 2)
        #expect(value.pendingCommandCount(.high) == 1)
        #expect(value.wait(timeout: .milliseconds(1)).lowestPriority.get() == .failure(.timedOut))
        #expect(value.pendingCommandCount(.lowest) == 2)
        let thread = RunningThread { value.wait.lowestPriority.set { $0 += 1 } }
        try poll("the thread waits") { value.pendingCommandCount(.lowest) == 3 }
        value.resume()
        thread.join()
        #expect(value.wait.lowestPriority.get() == .success(4))
    }

    @Test func `A value with a bound refuses one command too many, and loses none of the others`() {
        let value = QueueSafeValue(value: 0, pendingCommandLimit: 2)
        value.suspend()
        let results = Protected<[Result<Int, QueueSafeValueError>]>([])
        let finished = DispatchSemaphore(value: 0)
        for _ in 0..<3 {
            value.async(performIn: .utility).lowestPriority.set {
                $0 += 1
            } completion: {
                results.append($0)
                finished.signal()
            }
        }
        finished.wait()
        #expect(results.wrappedValue == [.failure(.commandQueueFull)])
        value.resume()
        finished.wait()
        finished.wait()
        #expect(value.wait.lowestPriority.get() == .success(2))
        #expect(results.wrappedValue.count == 3)
    }

    @Test("A thread that waits takes no place of the bound, and a task and a command of a queue take one each")
    func whatTheBoundCounts() async throws {
        let value = QueueSafeValue(value: 0, pendingCommandLimit: 2)
        value.suspend()
        let thread = RunningThread { value.wait.lowestPriority.set { $0 += 1 } }
        let task = Task { await value.async.lowestPriority.set { $0 += 1 } }
        while value.pendingCommandCount() < 2 { await Task.yield() }
        let states = (0..<2).map { _ in value.async(performIn: .utility).lowestPriority.set { $0 += 1 }.state }
        #expect(states == [.waiting, .refused])
        value.resume()
        _ = await task.value
        try await onThreadOfItsOwn { thread.join() }
    }

    @Test("A command that a task awaits is refused by a full value, and taken once there is room")
    func awaitedOnFullValue() async {
        let value = QueueSafeValue(value: 0, pendingCommandLimit: 0)
        value.suspend()
        #expect(await value.async.highestPriority.set { $0 += 1 } == .failure(.commandQueueFull))
        let body = await value.async.highestPriority.set { number in
            await Task.yield()
            number += 1
        }
        #expect(body == .failure(.commandQueueFull))
        value.resume()
        // The turn is free: a command that does not wait needs no room.
        #expect(await value.async.highestPriority.set { $0 += 1 } == .success(1))
    }

    // MARK: Cancelling them

    @Test func `When all are cancelled, threads, tasks and queues answer, and nothing runs`() async throws {
        let value = QueueSafeValue(value: 0)
        let blocker = Blocker(value)
        let answers = Log<Answer>()
        let group = DispatchGroup()
        let queue = DispatchQueue(label: "target")
        for priority in CommandPriority.allCases {
            for _ in 0..<4 { group.enter() }
            value.async(performIn: .utility).priority(priority).set {
                $0 += 1
            } completion: { result in
                answers.add(result)
                group.leave()
            }
            value.async(performIn: queue).priority(priority).get { result in
                dispatchPrecondition(condition: .onQueue(queue))
                answers.add(result)
                group.leave()
            }
            OwnThreads.run {
                answers.add(await value.async.priority(priority).set { $0 += 1 })
                group.leave()
            }
            _ = RunningThread {
                answers.add(value.wait.priority(priority).set { $0 += 1 })
                group.leave()
            }
        }
        let cancelled = try await onThreadOfItsOwn {
            try value.waitForPending(20)
            let cancelled = value.cancelAllPendingCommands()
            try inTime { group.wait() }
            return cancelled
        }
        #expect(cancelled == 20)
        #expect(value.pendingCommandCount() == 0)
        #expect(answers.entries == Array(repeating: .failure(.cancelled), count: 20))
        #expect(value.cancelAllPendingCommands() == 0)
        blocker.end()
        #expect(await value.async.lowestPriority.get() == .success(0))
    }

    @Test func `Those of one priority are cancelled, and the others go on in their order`() throws {
        let order = try inTime {
            let value = QueueSafeValue(value: 0)
            let blocker = Blocker(value)
            let order = Log<String>()
            let queue = DispatchQueue(label: "target")
            let group = DispatchGroup()
            for priority in [CommandPriority.low, .high, .medium] {
                group.enter()
                value.async(performIn: queue).priority(priority).get { result in
                    order.add("\(priority) \(result)")
                    group.leave()
                }
                group.enter()
                _ = RunningThread {
                    order.add("thread \(priority) \(value.wait.priority(priority).get())")
                    group.leave()
                }
            }
            try value.waitForPending(6)
            let count = value.cancelAllPendingCommands(.high)
            order.add("cancelled \(count)")
            blocker.end()
            group.wait()
            return order.entries
        }
        #expect(order.contains("cancelled 2"))
        #expect(order.contains { $0.hasPrefix("high failure") })
        #expect(order.contains { $0.hasPrefix("thread high failure") })
        #expect(order.filter { $0.hasSuffix("success(0)") }.count == 4)
    }

    @Test("A thread whose command was cancelled waits again as if nothing had been")
    func again() throws {
        let (cancelled, sum) = try inTime {
            let value = QueueSafeValue(value: 0)
            let isOver = Protected(false)
            let canceller = RunningThread {
                while !isOver.wrappedValue { value.cancelAllPendingCommands() }
            }
            let cancelled = Protected(0)
            onThreads(3) { _ in
                for _ in 0..<2_000 {
                    let answer = value.wait.lowestPriority.set { $0 += 1 }
                    switch answer {
                    case .success: break
                    case .failure(.cancelled): cancelled.write { $0 += 1 }
                    case .failure(let error): Issue.record("\(error)")
                    }
                }
            }
            isOver.write(true)
            canceller.join()
            return (cancelled.wrappedValue, value.wait.lowestPriority.get())
        }
        #expect(sum == .success(6_000 - cancelled))
    }

    @Test("100,000 pending commands are cancelled by four threads: each is told once, and nothing is left")
    func manyCancelled() throws {
        let captured = Counted.Tally()
        let told = Log<Int>()
        let count = rounds(100_000)
        try inTime {
            let value = QueueSafeValue(value: 0)
            let queues = (0..<3).map { DispatchQueue(label: "\($0)") }
            let blocker = Blocker(value)
            let group = DispatchGroup()
            let handles = (0..<count).map { index in
                let object = Counted(index, tally: captured)
                group.enter()
                return value.async(performIn: queues[index % 3]).priority(CommandPriority.allCases[index % 5]).set {
                    $0 += 1
                } completion: { result in
                    if result == .failure(.cancelled) { told.add(object.id) }
                    group.leave()
                }
            }
            #expect(value.pendingCommandCount() == count)
            onThreads(4) { thread in
                // A quarter each: two from its front, two from its back.
                let quarter = stride(from: thread, to: count, by: 4)
                for index in thread < 2 ? Array(quarter) : quarter.reversed() {
                    if !handles[index].cancel() { told.add(-1) }
                }
            }
            group.wait()
            #expect(value.pendingCommandCount() == 0)
            blocker.end()
            #expect(value.wait.lowestPriority.get() == .success(0))
        }
        #expect(told.entries.sorted() == Array(0..<count))
        try poll("what they captured is gone") { captured.alive == 0 }
    }
}
