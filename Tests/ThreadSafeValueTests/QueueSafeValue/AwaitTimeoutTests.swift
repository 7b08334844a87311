//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("Awaited commands that end in time")
struct AwaitTimeoutTests {
    @Test func `A command that does not get its turn in time never runs`() async {
        let value = QueueSafeValue(value: 0)
        let blocker = Blocker(value)
        let commands = value.async(timeout: .milliseconds(5)).lowestPriority
        #expect(await commands.get() == .failure(.timedOut))
        #expect(await commands.set { $0 += 1 } == .failure(.timedOut))
        #expect(await commands.set(newValue: 1) == .failure(.timedOut))
        #expect(await commands.map { $0 } == .failure(.timedOut))
        #expect(await commands.update { $0 } == .failure(.timedOut))
        let body = await commands.set { number in
            await Task.yield()
            number += 1
        }
        #expect(body == .failure(.timedOut))
        #expect(value.pendingCommandCount() == 0)
        blocker.end()
        #expect(await commands.get() == .success(0))
    }

    @Test func `With no time at all the turn is taken only if it is free`() async {
        let value = QueueSafeValue(value: 0)
        let commands = value.async(timeout: .seconds(0)).highestPriority
        #expect(await commands.set { $0 += 1 } == .success(1))
        let blocker = Blocker(value)
        #expect(await commands.set { $0 += 1 } == .failure(.timedOut))
        let body = await commands.set { number in
            await Task.yield()
            number += 1
        }
        #expect(body == .failure(.timedOut))
        blocker.end()
    }

    @Test func `A command that gets its turn in time takes as long as it likes`() async {
        let value = QueueSafeValue(value: 0)
        let answer = await value.async(timeout: .milliseconds(1)).lowestPriority.set { number in
            try await Task.sleep(nanoseconds: 20_000_000)
            number += 1
        }
        #expect(answer == .success(1))
    }

    @Test("Turn and time-out exclude each other, 2,000 times")
    func race() async throws {
        let value = QueueSafeValue(value: 0)
        var successes = 0
        for round in 0..<1_000 {
            let blocker = Blocker(value)
            async let first = value.async(timeout: .microseconds(round % 50 * 10)).lowestPriority.set { $0 += 1 }
            async let second = value.async(timeout: .microseconds(300)).lowestPriority.set { number in
                await Task.yield()
                number += 1
            }
            if round % 3 == 0 { await Task.yield() }
            blocker.end()
            for answer in await [first, second] {
                if case .success = answer { successes += 1 } else { #expect(answer == .failure(.timedOut)) }
            }
        }
        #expect(await value.async.lowestPriority.get() == .success(successes))
    }

    @Test("Of 1,000 that wait with times in any order, each ends, and later ones after earlier ones")
    func many() async {
        let value = QueueSafeValue(value: 0)
        let blocker = Blocker(value)
        let answers = await withTaskGroup(of: Result<Int, QueueSafeValueError>.self) { group in
            for index in 0..<1_000 {
                let timeout = DispatchTimeInterval.microseconds(500 + index * 7_919 % 1_000 * 20)
                group.addTask { await value.async(timeout: timeout).lowestPriority.set { $0 += 1 } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: .failure(.timedOut), count: 1_000))
        blocker.end()
        #expect(await value.async.lowestPriority.get() == .success(0))
    }

    /// The command would have run on a thread of that pool; that it is over needs none.
    @Test func `A task whose command is cancelled or timed out goes on, however full the global pool is`() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let value = QueueSafeValue(value: 0)
            value.suspend()
            let never = DispatchSemaphore(value: 0)
            for _ in 0..<600 { DispatchQueue.global(qos: .userInitiated).async { never.wait() } }
            let task = Task { await value.async.lowestPriority.get() }
            while value.pendingCommandCount() == 0 { await Task.yield() }
            task.cancel()
            let cancelled = await task.value
            let timedOut = await value.async(timeout: .milliseconds(5)).lowestPriority.get()
            exit(cancelled == .failure(.cancelled) && timedOut == .failure(.timedOut) ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }
}
