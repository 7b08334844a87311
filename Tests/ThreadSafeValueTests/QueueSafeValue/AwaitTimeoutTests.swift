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
        #expect(value.pendingCommandCount == 0)
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

    /// A thread of the timers leaves those that are due to others for as many milliseconds as these tell targets. In a
    /// process of its own: all time-outs come late here.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("However late the timers are, nothing begins that is out of time", arguments: TimedForm.allCases)
    func lateTimers(_ form: TimedForm) async {
        await #expect(processExitsWith: .success) { [form] in
            giveUp(afterSeconds: 240)
            let (mayGoOn, end) = (Door(), DispatchGroup())
            for _ in 0..<50 { holdUpTimerThread(until: mayGoOn, end) }
            for _ in 0..<10 {
                let value = QueueSafeValue(value: 0)
                let blocker = Blocker(value)
                let (begins, isOver) = (Protected(false), Protected(false))
                let task = OwnThreads.run {
                    await form.run(value.async(timeout: .milliseconds(5)).lowestPriority) { begins.write(true) }
                    isOver.write(true)
                }
                try poll("a command in line") { value.pendingCommandCount == 1 || isOver.wrappedValue }
                usleep(5_001)
                blocker.end()
                await task.value
                precondition(!begins.wrappedValue)
            }
            mayGoOn.open()
            try await onThreadOfItsOwn { end.wait() }
        }
    }

    enum TimedForm: CaseIterable, Codable {
        case closure, body, submittedClosure, submittedBody

        func run(_ commands: AwaitCommands<Int>, _ begins: @escaping @Sendable () -> Void) async {
            let body: @Sendable (inout Int) async -> Void = { _ in
                begins()
                await Task.yield()
            }
            switch self {
            case .closure: _ = await commands.set { _ in begins() }
            case .body: _ = await commands.set(body)
            case .submittedClosure: _ = await commands.submit { _ in begins() }.value
            case .submittedBody: _ = await commands.submit(body).value
            }
        }
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
            while value.pendingCommandCount == 0 { await Task.yield() }
            task.cancel()
            let cancelled = await task.value
            let timedOut = await value.async(timeout: .milliseconds(5)).lowestPriority.get()
            exit(cancelled == .failure(.cancelled) && timedOut == .failure(.timedOut) ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
    @Test func `Every time-out may be a Duration`() async throws {
        let (short, none) = (Duration.milliseconds(1), Duration.zero)
        let value = QueueSafeValue(value: 0)
        #expect(value.wait(timeout: none).lowestPriority.get() == .success(0))
        #expect(value.wait(timeout: .seconds(0.5)).lowestPriority.get() == .success(0))
        #expect(await value.async(timeout: none).lowestPriority.get() == .success(0))
        let blocker = Blocker(value)
        let shortest = Duration(secondsComponent: .min, attosecondsComponent: 0)
        for timeout in [short, none, .milliseconds(-1), .nanoseconds(1), shortest, shortest * 10] {
            #expect(await value.async(timeout: timeout).lowestPriority.get() == .failure(.timedOut))
        }
        let forEver = Duration(secondsComponent: .max, attosecondsComponent: 0)
        let waiting = OwnThreads.run {
            async let first = value.async(timeout: forEver).lowestPriority.get()
            async let second = value.async(timeout: forEver * 10).lowestPriority.get()
            #expect(await [first, second] == [.success(0), .success(0)])
        }
        try await onThreadOfItsOwn { try value.waitForPending(2) }
        blocker.end()
        await waiting.value
    }

    @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
    @Test func `So may those of a protected value`() {
        let (short, none) = (Duration.milliseconds(1), Duration.zero)
        let protected = Protected(0)
        #expect(protected.write(timeout: short) { $0 += 1 } != nil)
        let isMet = protected.wait(until: { $0 > 1 }, timeout: short)
        #expect(!isMet)
        #expect(protected.write(when: { $0 > 1 }, timeout: none) { $0 += 1 } == nil)
        #expect(protected.write(when: { $0 == 1 }, timeout: short) { $0 } == 1)
    }
}
