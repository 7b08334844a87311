//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("Commands that are submitted now and awaited later")
struct SubmittedCommandTests {
    private struct Refused: Error {}

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
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
