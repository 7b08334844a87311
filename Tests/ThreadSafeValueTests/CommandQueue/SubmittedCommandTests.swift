//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("Commands that are submitted now and awaited later")
struct SubmittedCommandTests {
    private struct Refused: Error {}

    // Under a sanitizer the threads are taken for so long that other tests' commands wait for minutes.
    @Test(
        "One without time that was accepted has no turn as long as its queue does not start",
        .enabled(if: !isSanitized)
    )
    func withoutTime() async throws {
        let answer = try await onThreadOfItsOwn {
            try inTime {
                let (value, over) = (QueueSafeValue(value: 0), Door())
                defer { over.open() }
                // All threads of the pool are taken.
                for _ in 0..<600 { DispatchQueue.global(qos: .userInitiated).async { over.waitUntilOpen() } }
                let command = value.async(timeout: .seconds(0)).lowestPriority.submit { $0 += 1 }
                defer { command.cancel() }
                return value.wait(timeout: .seconds(60)).lowestPriority.map { _ in 0 }
            }
        }
        #expect(answer == .success(0))
    }

    @Test("They run in the order in which they were submitted, 1,000 of 1,000")
    func order() async {
        let value = QueueSafeValue(value: [Int]())
        var pending: [SubmittedCommand<Int>] = []
        for number in 0..<1_000 {
            if number % 10 == 0 {
                pending.append(
                    value.async.lowestPriority.submit { list -> Int in
                        await Task.yield()
                        list.append(number)
                        return number
                    }
                )
            } else {
                pending.append(
                    value.async.lowestPriority.submit { list in
                        list.append(number)
                        return number
                    }
                )
            }
        }
        for (number, command) in pending.enumerated() { #expect(await command.value == .success(number)) }
        #expect(await value.async.lowestPriority.get() == .success(Array(0..<1_000)))
    }

    /// The first is over, and what it captured goes away, when the block that ran it has found the second.
    @Test func `One that is cancelled as its task is about to start holds up no other`() async {
        let value = QueueSafeValue(value: 0)
        let second = Protected<SubmittedCommand<Void>?>(nil)
        value.suspend()
        func submitFirst() {
            let token = Last { second.wrappedValue?.cancel() }
            value.async.lowestPriority.submit { number in
                number += 1
                withExtendedLifetime(token) {}
            }
        }
        submitFirst()
        let command = value.async.lowestPriority.submit { (number: inout Int) async in number += 10 }
        second.write(command)
        value.resume()
        let answer = await command.value
        let last = await value.async.lowestPriority.submit { number -> Int in
            number += 100
            return number
        }.value
        if case .success = answer { #expect(last == .success(111)) } else { #expect(last == .success(101)) }
    }

    @Test func `What one has captured may wait, as it goes away, for the next, which is async`() async {
        let (value, isDone) = (QueueSafeValue(value: 0), Door())
        value.suspend()
        func submitFirst() {
            let token = Last { isDone.waitUntilOpen() }
            value.async.lowestPriority.submit { number in
                number += 1
                withExtendedLifetime(token) {}
            }
        }
        submitFirst()
        let command = value.async.lowestPriority.submit { (number: inout Int) async -> Int in
            number += 10
            isDone.open()
            return number
        }
        value.resume()
        #expect(await command.value == .success(11))
    }

    @Test func `Two at a time, 1,000 times: the first is always first`() async {
        var outOfOrder = 0
        for _ in 0..<1_000 {
            let value = QueueSafeValue(value: [Int]())
            let first = value.async.lowestPriority.submit { $0.append(1) }
            let second = value.async.lowestPriority.submit { $0.append(2) }
            _ = await (second.value, first.value)
            if await value.async.lowestPriority.get() != .success([1, 2]) { outOfOrder += 1 }
        }
        #expect(outOfOrder == 0)
    }

    @Test func `A command answers what its closure returns or throws, to whoever asks, and without being asked`() async
    {
        let value = QueueSafeValue(value: 1)
        let command = value.async.highestPriority.submit { number in
            number += 1
            return "\(number)"
        }
        async let first = command.value
        async let second = command.value
        #expect(await [first, second, command.value] == Array(repeating: .success("2"), count: 3))
        let thrown = value.async.lowestPriority.submit { number -> Int in
            number += 1
            throw Refused()
        }
        #expect(await thrown.value == .failure(.unexpected(error: Refused())))
        let thrownLater = value.async.lowestPriority.submit { number -> Int in
            await Task.yield()
            number += 1
            throw Refused()
        }
        #expect(await thrownLater.value == .failure(.unexpected(error: Refused())))
        value.async.lowestPriority.submit { $0 += 1 }
        #expect(await value.async.lowestPriority.get() == .success(5))
        #expect(command.cancel() == false)
    }

    @Test func `A command can be taken back until it starts, and runs out of time`() async {
        let value = QueueSafeValue(value: 0)
        let blocker = Blocker(value)
        let command = value.async.lowestPriority.submit { $0 += 1 }
        let body = value.async.lowestPriority.submit { number in
            await Task.yield()
            number += 1
        }
        let late = value.async(timeout: .milliseconds(1)).lowestPriority.submit { $0 += 1 }
        #expect(command.cancel())
        #expect(!command.cancel())
        #expect(body.cancel())
        #expect(await command.value.failure == .cancelled)
        #expect(await body.value.failure == .cancelled)
        #expect(await late.value.failure == .timedOut)
        blocker.end()
        #expect(await value.async.lowestPriority.get() == .success(0))
    }

    @Test func `A command that was taken back keeps nothing that its closure captured`() {
        let tally = Counted.Tally()
        let value = QueueSafeValue(value: 0)
        value.suspend()
        func submit() -> SubmittedCommand<Void> {
            let object = Counted(1, tally: tally)
            return value.async.lowestPriority.submit { $0 += object.id }
        }
        let command = submit()
        #expect(tally.alive == 1)
        #expect(command.cancel())
        #expect(tally.alive == 0)
        withExtendedLifetime(command) {}
        value.resume()
    }

    @Test func `The turn is free when its task goes on`() async {
        let value = QueueSafeValue(value: 0)
        for _ in 0..<500 {
            _ = await value.async.lowestPriority.submit { $0 += 1 }.value
            #expect(await value.async(timeout: .seconds(0)).lowestPriority.get().failure == nil)
            let body = value.async.lowestPriority.submit { number in
                await Task.yield()
                number += 1
            }
            _ = await body.value
            #expect(await value.async(timeout: .seconds(0)).lowestPriority.get().failure == nil)
        }
        #expect(await value.async.lowestPriority.get() == .success(1_000))
    }

    /// A reader that left its actor would come back in another job, and wait for a busy pool before that.
    @Test func `The answer of one that is over is read on the actor of the reader`() async throws {
        let command = QueueSafeValue(value: 0).async.lowestPriority.submit { $0 += 1 }
        _ = await command.value
        let (reader, answers) = (Reader(), Log<Bool>())
        OwnThreads.run { await reader.read(command, into: answers) }
        try await onThreadOfItsOwn { try poll("the reader has a job for this thread") { reader.jobs.run() } }
        #expect(answers.entries == [true])
    }

    @Test func `A full queue answers`() async {
        let value = QueueSafeValue(value: 0, pendingCommandLimit: 1)
        let blocker = Blocker(value)
        let first = value.async.lowestPriority.submit { $0 += 1 }
        #expect(await value.async.lowestPriority.submit { $0 += 1 }.value.failure == .commandQueueFull)
        blocker.end()
        #expect(await first.value.failure == nil)
    }

    @Test("Awaited inside a closure that has the turn, it is a mistake, and never runs", arguments: [false, true])
    func inside(isBody: Bool) async {
        let value = QueueSafeValue(value: 0)
        await value.async.lowestPriority.set { _ in
            let command =
                isBody
                ? value.async.lowestPriority.submit { number in
                    await Task.yield()
                    number += 1
                } : value.async.lowestPriority.submit { $0 += 1 }
            #expect(await command.value.failure == .reentrantCommand)
        }
        #expect(await value.async.lowestPriority.get() == .success(0))
    }

    @Test func `Two that await each other's value find the circle`() async {
        let (left, right) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
        let bothHaveOne = Protected(0)
        let answers = Log<QueueSafeValueError?>()
        let take: @Sendable (QueueSafeValue<Int>, QueueSafeValue<Int>) -> SubmittedCommand<Void> = { own, other in
            own.async.lowestPriority.submit { _ in
                bothHaveOne.write { $0 += 1 }
                while bothHaveOne.wrappedValue < 2 { await Task.yield() }
                answers.add(await other.async.lowestPriority.submit { $0 += 1 }.value.failure)
            }
        }
        let (first, second) = (take(left, right), take(right, left))
        _ = await (first.value, second.value)
        #expect(answers.entries.filter { $0 == .circularWait }.count == 1)
        #expect(answers.entries.filter { $0 == nil }.count == 1)
    }

    @Test func `A suspended value that nobody holds answers`() async {
        func submit() -> [SubmittedCommand<Void>] {
            let value = QueueSafeValue(value: 0)
            value.suspend()
            let body = value.async.lowestPriority.submit { number in
                await Task.yield()
                number += 1
            }
            return [value.async.lowestPriority.submit { $0 += 1 }, body]
        }
        for command in submit() { #expect(await command.value.failure == .valueContainerDeinited) }
    }

    @Test func `Those who listen are told of its change`() async {
        let value = QueueSafeValue(value: 0)
        var changes = value.changes(buffering: .unbounded).makeAsyncIterator()
        value.async.lowestPriority.submit { $0 = 1 }
        #expect(await changes.next() == 1)
        value.async.lowestPriority.submit { number in
            await Task.yield()
            number = 2
        }
        #expect(await changes.next() == 2)
        value.async(timeout: .seconds(0)).lowestPriority.submit { $0 = 3 }
        #expect(await changes.next() == 3)
    }

    @Test func `Without time it takes a free turn, and none that is taken`() async {
        let value = QueueSafeValue(value: 0)
        let now = value.async(timeout: .seconds(0)).lowestPriority
        for _ in 0..<200 { #expect(await now.submit { $0 += 1 }.value.failure == nil) }
        for _ in 0..<200 {
            let body = now.submit { number in
                await Task.yield()
                number += 1
            }
            #expect(await body.value.failure == nil)
        }
        let inside = now.submit { _ in value.wait.lowestPriority.get() }
        #expect(await inside.value == .success(.failure(.reentrantCommand)))
        let blocker = Blocker(value)
        #expect(await now.submit { $0 += 1 }.value.failure == .timedOut)
        blocker.end()
        #expect(await value.async.lowestPriority.get() == .success(400))
    }

    /// It waits for nothing, so it is no mistake, as it is for a command that the body awaits.
    @Test func `Without time it finds the turn taken by the body that submits it`() async throws {
        let value = QueueSafeValue(value: 0)
        let now = value.async(timeout: .seconds(0)).lowestPriority
        let inside: Result<Result<Int, QueueSafeValueError>, QueueSafeValueError> =
            await value.async.lowestPriority.update { _ in await now.submit { $0 }.value }
        #expect(try inside.get() == .failure(.timedOut))
    }

    /// On the thread that ends its time, others would wait for that.
    @Test func `What a command that is out of time captured goes away on a thread that may wait for other time-outs`()
        async throws
    {
        let answers = Log<Bool>()
        let isGone = Door()
        let value = QueueSafeValue(value: 0)
        value.suspend()
        func submit() {
            let last = Last {
                let isOver = DispatchSemaphore(value: 0)
                OwnThreads.run {
                    _ = await value.async(timeout: .milliseconds(5)).lowestPriority.get()
                    isOver.signal()
                }
                answers.add(isOver.wait(timeout: .now() + 60) == .success)
                isGone.open()
            }
            value.async(timeout: .milliseconds(5)).lowestPriority.submit { number in
                withExtendedLifetime(last) {}
                number += 1
            }
        }
        submit()
        try await onThreadOfItsOwn { isGone.waitUntilOpen() }
        #expect(answers.entries == [true])
        value.resume()
    }

    @Test func `One with a time-out is in no circle`() async throws {
        let (first, second) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
        let hasSecond = Gate()
        let isInFirst = Gate()
        let other = Log<Result<Int, QueueSafeValueError>>()
        let thread = OwnThreads.run {
            await second.async.lowestPriority.set { _ in
                hasSecond.open()
                await isInFirst.pass()
                other.add(await first.async.lowestPriority.get())
            }
        }
        await hasSecond.pass()
        let answers = Log<QueueSafeValueError?>()
        await OwnThreads.run {
            await first.async.lowestPriority.set { _ in
                isInFirst.open()
                answers.add(
                    await second.async(timeout: .milliseconds(200)).lowestPriority.submit { $0 += 1 }.value.failure
                )
            }
        }.value
        await thread.value
        #expect(answers.entries == [.timedOut])
        #expect(other.entries == [.success(0)])
    }

    @Test func `Inside an async closure, one that is over or was cancelled has its own answer`() async {
        let value = QueueSafeValue(value: UInt16(0))
        let over = value.async.lowestPriority.submit { $0 += 1 }
        _ = await over.value
        let answers = Log<QueueSafeValueError?>()
        await value.async.lowestPriority.set { (_: inout UInt16) async in
            answers.add(await over.value.failure)
            let cancelled = value.async.lowestPriority.submit { $0 += 1 }
            value.cancelAllPendingCommands()
            answers.add(await cancelled.value.failure)
        }
        #expect(answers.entries == [nil, .cancelled])
        #expect(Mistakes.with(UInt16.self).isEmpty)
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

/// Reads the answer of a command in its jobs.
private actor Reader {
    let jobs = Jobs()

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe jobs.asUnownedSerialExecutor() }

    func read(_ command: SubmittedCommand<Void>, into answers: Log<Bool>) async {
        let isThere = await command.value.failure == nil
        answers.add(isThere)
    }
}
