//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("Changes of a queue-safe value")
struct QueueSafeValueChangesTests {
    @Test("Each command that may change the value is one element, of whatever kind; one that reads is none")
    func everyKind() async {
        let value = QueueSafeValue(value: 0)
        let queue = DispatchQueue(label: "changes")
        var iterator = value.changes(buffering: .unbounded).makeAsyncIterator()
        let inThread = RunningThread {
            let wait = value.wait.lowestPriority
            wait.set { $0 = 1 }
            _ = wait.get()
            wait.set(newValue: 2)
            _ = wait.map { $0 + 5 }
            wait.set { number, done in
                number = 3
                done()
            }
            _ = wait.get(manualCompletion: { _, done in done() })
            value.wait(timeout: .seconds(9)).highPriority.set { $0 = 4 }
            wait.set { number in
                number = 5
                throw CancellationError()
            }
            let async = value.async(performIn: queue).mediumPriority
            async.set { $0 = 6 }
            async.get { _ in }
            async.set(newValue: 7)
            async.set { number, done in
                number = 8
                DispatchQueue.global().async(execute: done)
            }
            async.set(accessClosure: { $0 = 9 }, completion: { _ in })
        }
        for number in 1...9 { #expect(await iterator.next() == number) }
        inThread.join()
        let tasks = value.async.lowestPriority
        await tasks.set { $0 = 10 }
        _ = await tasks.get()
        await tasks.set(newValue: 11)
        await tasks.set({ number in
            await Task.yield()
            number = 12
        })
        for number in 10...12 { #expect(await iterator.next() == number) }
    }

    /// The other thread calls `done` long after the closure has returned, nearly always.
    @Test("A manual command is one element also if it is completed on another thread, after its closure")
    func manual() async {
        let value = QueueSafeValue(value: 0)
        let queue = DispatchQueue(label: "changes")
        var iterator = value.changes(buffering: .unbounded).makeAsyncIterator()
        let inThread = RunningThread {
            for number in 1...20 {
                value.wait.lowestPriority.set { current, done in
                    current = 2 * number
                    DispatchQueue.global().async(execute: done)
                }
                value.async(performIn: queue).highestPriority.set { current, done in
                    current = 2 * number + 1
                    DispatchQueue.global().async(execute: done)
                }
                queue.sync {}
            }
        }
        for number in 2...41 { #expect(await iterator.next() == number) }
        inThread.join()
    }

    /// The value is held by a manual command, so the task's command has to wait.
    @Test("The command of a task is one element also if it had to wait")
    func awaited() async throws {
        let value = QueueSafeValue(value: 0)
        var iterator = value.changes(buffering: .unbounded).makeAsyncIterator()
        for number in [2, 4] {
            let blocker = try await onThreadOfItsOwn { Blocker(value) }
            let task = OwnThreads.run {
                if number == 2 {
                    await value.async.lowestPriority.set { $0 = number }
                } else {
                    await value.async.lowestPriority.set({ current in
                        await Task.yield()
                        current = number
                    })
                }
            }
            try await onThreadOfItsOwn { try value.waitForPending(1) }
            blocker.end()
            await task.value
            await value.async.lowestPriority.set { $0 += 1 }
            #expect(await iterator.next() == number)
            #expect(await iterator.next() == number + 1)
        }
    }

    /// A thread that looks for what another has made is faster than the one that makes it, so they meet all the time.
    @Test("Two threads that are the first to listen, at once, hear of the same changes")
    func firstListeners() async throws {
        let values = (0..<rounds(10_000)).map { _ in QueueSafeValue(value: 0) }
        let sequences = try await onThreadOfItsOwn {
            let sequences = Log<[ValueChanges<Int>]>()
            onThreads(2) { _ in sequences.add(values.map { $0.changes(buffering: .unbounded) }) }
            for value in values { value.wait.lowestPriority.set { $0 += 1 } }
            return sequences.entries
        }
        let heard = Protected(0)
        OwnThreads.run {
            for changes in sequences.joined() {
                var iterator = changes.makeAsyncIterator()
                if await iterator.next() == 1 { heard.wrappedValue += 1 }
            }
        }
        try await onThreadOfItsOwn {
            try poll("both hear of all changes") { heard.wrappedValue == 2 * values.count }
        }
        withExtendedLifetime(values) {}
    }

    @Test("A command that was running when the listening began is an element too")
    func running() async throws {
        let value = QueueSafeValue(value: 0)
        let (isIn, mayGoOn) = (Door(), Door())
        let thread = RunningThread {
            value.wait.lowestPriority.set { number in
                isIn.open()
                mayGoOn.waitUntilOpen()
                number = 1
            }
        }
        let changes = try await onThreadOfItsOwn {
            isIn.waitUntilOpen()
            return value.changes()
        }
        var iterator = changes.makeAsyncIterator()
        mayGoOn.open()
        #expect(await iterator.next() == 1)
        thread.join()
    }

    @Test("So is the command of a task that found the turn free")
    func runningInTask() async {
        let value = QueueSafeValue(value: 0)
        let changes = Log<ValueChanges<Int>>()
        await value.async.lowestPriority.set { number in
            changes.add(value.changes(buffering: .unbounded))
            number = 1
        }
        await value.async.lowestPriority.set { $0 = 2 }
        var iterator = changes.entries[0].makeAsyncIterator()
        #expect(await iterator.next() == 1)
        #expect(await iterator.next() == 2)
    }

    @Test(
        "Several loops hear every change that threads, queues and tasks make, in the one order in which they were made"
    )
    func order() async {
        let value = QueueSafeValue(value: 0)
        let listeners = (0..<2).map { _ in
            let changes = value.changes(buffering: .unbounded)
            return Task {
                var seen = [Int]()
                for await number in changes {
                    seen.append(number)
                    if number == 900 { break }
                }
                return seen
            }
        }
        let queues = (0..<2).map { DispatchQueue(label: "changes \($0)") }
        let threads = RunningThread {
            onThreads(3) { index in
                for count in 0..<200 {
                    value.wait.highestPriority.set { $0 += 1 }
                    if count < 100 { _ = value.wait.lowPriority.get() }
                    if index < 2, count < 100 { value.async(performIn: queues[index]).lowestPriority.set { $0 += 1 } }
                }
            }
        }
        for _ in 0..<100 { await value.async.mediumPriority.set { $0 += 1 } }
        for listener in listeners { #expect(await listener.value == Array(1...900)) }
        threads.join()
    }

    @Test("Listening that begins and ends while others change the value misses nothing in between")
    func coming() async {
        let value = QueueSafeValue(value: 0)
        let isOver = Protected(false)
        let writers = RunningThread {
            onThreads(2) { _ in
                while !isOver.wrappedValue {
                    value.wait.highestPriority.set { $0 += 1 }
                    // Not faster than a task on a busy pool can listen.
                    usleep(50)
                }
            }
        }
        for _ in 0..<400 {
            var iterator = value.changes(buffering: .unbounded).makeAsyncIterator()
            var last = await iterator.next() ?? 0
            for _ in 0..<20 {
                let next = await iterator.next() ?? 0
                #expect(next == last + 1)
                last = next
            }
        }
        isOver.wrappedValue = true
        writers.join()
    }

    @Test("A listener that lags 100,000 changes behind holds nobody up, and gets them all")
    func lagging() async throws {
        let value = QueueSafeValue(value: 0)
        var iterator = value.changes(buffering: .unbounded).makeAsyncIterator()
        try inTime {
            for _ in 0..<rounds(100_000) { value.wait.highestPriority.set { $0 += 1 } }
        }
        for number in 1...rounds(100_000) { #expect(await iterator.next() == number) }
    }

    @Test("Who waits for a change hears of it before the next command on that queue, and before the completion")
    func atOnce() async throws {
        let value = QueueSafeValue(value: 0)
        let queue = DispatchQueue(label: "changes")
        for _ in 0..<20 {
            let (heard, isOver) = (Log<Int>(), Door())
            let changes = value.changes(buffering: .unbounded)
            let loop = OwnThreads.run {
                for await number in changes {
                    heard.add(number)
                    if number == 3 { return }
                }
            }
            @Sendable func expectHeard(_ numbers: [Int]) {
                do { try poll("the loop has heard \(numbers)") { heard.entries == numbers } } catch {
                    Issue.record(error)
                }
            }
            try await onThreadOfItsOwn {
                queue.suspend()
                let async = value.async(performIn: queue).lowestPriority
                async.set { $0 = 1 }
                async.set { number in
                    expectHeard([1])
                    number = 2
                }
                async.set(accessClosure: { $0 = 3 }) { _ in
                    expectHeard([1, 2, 3])
                    isOver.open()
                }
                queue.resume()
                isOver.waitUntilOpen()
            }
            await loop.value
        }
    }

    @Test("An old value goes away without the turn, whoever replaces it")
    func replacedByAll() async throws {
        let answers = Log<String>()
        let value = QueueSafeValue<Last?>(value: nil)
        let queue = DispatchQueue(label: "changes")
        @Sendable func last(_ name: String) -> Last {
            Last {
                if case .success = value.wait.highestPriority.map(completion: { _ in 0 }) { answers.add(name) }
            }
        }
        value.wait.lowestPriority.set(newValue: last("replaced by wait"))
        value.wait.lowestPriority.set(newValue: last("replaced by async"))
        value.async(performIn: queue).lowestPriority.set(newValue: last("replaced by async with a completion"))
        let isOver = Door()
        value.async(performIn: queue).lowestPriority.set(newValue: last("replaced by await")) { _ in isOver.open() }
        try await onThreadOfItsOwn { isOver.waitUntilOpen() }
        await value.async.lowestPriority.set(newValue: nil)
        try await onThreadOfItsOwn { queue.sync {} }
        #expect(
            Set(answers.entries) == [
                "replaced by wait", "replaced by async", "replaced by async with a completion", "replaced by await",
            ]
        )
        withExtendedLifetime(value) {}
    }

    @Test("An old value goes away without the turn, and may use the value then")
    func replacedWithoutTurn() async {
        let answers = Log<Bool>()
        let value = QueueSafeValue<Last?>(value: nil)
        let changes = value.changes()
        let threads = RunningThread {
            for _ in 0..<3 {
                let next = Last {
                    answers.add((try? value.wait.highestPriority.get().get()) != nil)
                }
                value.wait.lowestPriority.set { [next] in $0 = next }
            }
        }
        threads.join()
        var iterator = changes.makeAsyncIterator()
        _ = await iterator.next()
        // Those that only the mailbox had when a newer one came.
        #expect(answers.entries == [true, true])
        withExtendedLifetime(value) { _ = value.wait.lowestPriority.set(newValue: nil) }
    }
}
