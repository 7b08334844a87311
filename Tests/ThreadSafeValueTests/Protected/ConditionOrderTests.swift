//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("Which of those that wait for a condition are woken")
struct ConditionOrderTests {
    /// A change wakes one of them, and that one wakes the next. Others may pass a task that comes late.
    @Test("Those that will change the value do it, threads in the order in which they came", arguments: [false, true])
    func order(areTasks: Bool) async throws {
        let order = try await onThreadOfItsOwn {
            try inTime {
                let (tickets, order) = (Protected(0), Log<Int>())
                for index in 0..<20 {
                    let isTested = Door()
                    let isThere: @Sendable (Int) -> Bool = { tickets in
                        isTested.open()
                        return tickets > 0
                    }
                    let take: @Sendable (inout Int) -> Void = { tickets in
                        tickets -= 1
                        order.add(index)
                    }
                    if areTasks {
                        OwnThreads.run { _ = try? await tickets.write(when: isThere, take) }
                    } else {
                        _ = RunningThread { tickets.write(when: isThere, take) }
                    }
                    isTested.waitUntilOpen()
                }
                tickets.wrappedValue = 20
                tickets.wait { $0 == 0 }
                return order.entries
            }
        }
        #expect((areTasks ? order.sorted() : order) == Array(0..<20))
    }

    /// The first change that waits holds the turn of nobody: it leaves the value as it is.
    @Test("All that only wait are woken at once, beside the one that changes the value")
    func waitsAtOnce() throws {
        try inTime {
            let (number, mayGoOn) = (Protected(0), Door())
            let change = Waiting(number) { isMet in
                number.write(when: isMet) { _ in mayGoOn.waitUntilOpen() }
            }
            let waits = (0..<5).map { _ in Waiting(number) { isMet in number.wait(until: isMet) } }
            number.wrappedValue = 1
            for wait in waits { wait.thread.join() }
            mayGoOn.open()
            change.thread.join()
        }
    }

    enum Ending: CaseIterable {
        case `throw`, noChange, timeOut
    }

    /// One change of the value meets both conditions, and wakes the first.
    @Test("The second is not missed, whatever the first does when it was woken", arguments: Ending.allCases)
    func notMissed(ending: Ending) throws {
        try inTime {
            let (number, hasLeft) = (Protected(0), Door())
            let first = Waiting(number) { isMet in
                switch ending {
                case .throw: _ = try? number.write(when: isMet) { _ in throw Refusal(code: 3) }
                case .noChange: number.write(when: isMet) { _ in }
                case .timeOut: #expect(number.write(when: isMet, timeout: .milliseconds(200)) { _ in } == nil)
                }
                hasLeft.open()
            }
            // The writer tests this after the first condition, with the lock, until the time is over.
            let late = Waiting(number) { isMet in
                number.wait { number in
                    if isMet(number), ending == .timeOut { hasLeft.waitUntilOpen() }
                    return number == 1
                }
            }
            let second = Waiting(number) { isMet in number.write(when: isMet) { $0 = 2 } }
            number.wrappedValue = 1
            for waiting in [first, late, second] { waiting.thread.join() }
            #expect(number.wrappedValue == 2)
            try poll("nobody waits") { !number.hasWaiters }
        }
    }

    /// The task goes on behind what the test does on its executor.
    @Test("Nor when the first is a task that is cancelled, or whose time is over", arguments: [false, true])
    func notMissed(isCancelled: Bool) async throws {
        try await onThreadOfItsOwn {
            try inTime {
                let (number, tests, isOver) = (Protected(0), Log<Void>(), Protected(false))
                let owner = Owner()
                let first = Task {
                    let timeout = isCancelled ? DispatchTimeInterval.never : .milliseconds(200)
                    let answer: Void? = try await owner.write(number, timeout: timeout) { number in
                        tests.add(())
                        return number == 1
                    }
                    #expect(answer == nil)
                }
                Task {
                    _ = await first.result
                    isOver.wrappedValue = true
                }
                try poll("the first waits") {
                    _ = owner.jobs.run()
                    return tests.count > 0 || isOver.wrappedValue
                }
                let second = Waiting(number) { isMet in number.write(when: isMet) { $0 = 2 } }
                number.wrappedValue = 1
                if isCancelled { first.cancel() } else { usleep(210_000) }
                try poll("the first has left") {
                    _ = owner.jobs.run()
                    return isOver.wrappedValue
                }
                second.thread.join()
                #expect(number.wrappedValue == 2)
            }
        }
    }

    /// The second change meets the second condition only. The first waiter, which the first change woke, then wakes the
    /// second; or a timer does, while the first one's executor stands still.
    @Test("Nor when the first comes in vain, or stands still, after one more change", arguments: [false, true])
    func comesInVain(standsStill: Bool) async throws {
        try await onThreadOfItsOwn {
            try inTime {
                let (number, owner) = (Protected(0), Owner())
                let first = Task { try await owner.write(number, timeout: .never) { $0 == 2 } }
                try poll("the first waits") {
                    _ = owner.jobs.run()
                    return number.hasWaiters
                }
                let second = Waiting(number) { isMet in number.write(when: isMet) { $0 = 3 } }
                number.wrappedValue = 2
                number.wrappedValue = 1
                try poll("the second has changed it") {
                    if !standsStill { _ = owner.jobs.run() }
                    return number.wrappedValue == 3
                }
                second.thread.join()
                first.cancel()
                try poll("the first has left") {
                    _ = owner.jobs.run()
                    return !number.hasWaiters
                }
            }
        }
    }

    @Test("A task's write with a time-out is tried once, comes in time, leaves, or is cancelled")
    func timeoutOfTask() async throws {
        let number = Protected(1)
        let inVain: @Sendable (inout Int) -> Void = { _ in Issue.record("It was called.") }
        #expect(try await number.write(when: { $0 == 1 }, timeout: .seconds(0)) { $0 += 1 } != nil)
        #expect(try await number.write(when: { $0 == 1 }, timeout: .seconds(0), inVain) == nil)
        #expect(try await number.write(when: { $0 == 1 }, timeout: .milliseconds(1), inVain) == nil)
        #expect(!number.hasWaiters)
        let isTested = Door()
        let waiting = Task {
            let isMet: @Sendable (Int) -> Bool = { number in
                isTested.open()
                return number == 3
            }
            return try await number.write(when: isMet, timeout: .seconds(600)) { $0 += 1 }
        }
        try await onThreadOfItsOwn {
            isTested.waitUntilOpen()
            number.wrappedValue = 3
        }
        #expect(try await waiting.value != nil)
        #expect(number.wrappedValue == 4)
        let cancelled = Task { try await number.write(when: { $0 == 0 }, timeout: .seconds(600), inVain) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(number.tryRead { $0 } == 4)
    }

    @Test("No closure begins after its time-out, however long the test of its condition takes")
    func slowTest() async throws {
        let number = Protected(1)
        let isMet: @Sendable (Int) -> Bool = { number in
            usleep(20_000)
            return number == 1
        }
        let timeout = DispatchTimeInterval.milliseconds(5)
        #expect(try await number.write(when: isMet, timeout: timeout) { $0 = 2 } == nil)
        let answer: Void? = try await onThreadOfItsOwn { number.write(when: isMet, timeout: timeout) { $0 = 2 } }
        #expect(answer == nil)
        #expect(number.wrappedValue == 1)
        #expect(!number.hasWaiters)
    }

    @Test("20,000 tickets among 32 waiters, which also look only, throw, are cancelled and run out of time")
    func tickets() async throws {
        var random = SeededRandom()
        let seed = random.next()
        try await onThreadOfItsOwn {
            try inTime {
                let (desk, ended) = (Protected(Desk()), Protected(0))
                for index in 0..<32 {
                    let random = Protected(SeededRandom(seed: seed &+ UInt64(index)))
                    let next: @Sendable () -> Int = { random.write { Int($0.next() % 1_000) } }
                    if index.isMultiple(of: 2) {
                        _ = RunningThread {
                            while desk.left > 0 { desk.visit(next()) }
                            ended.wrappedValue += 1
                        }
                    } else {
                        OwnThreads.run {
                            while desk.left > 0 { await desk.visit(next()) }
                            ended.wrappedValue += 1
                        }
                    }
                }
                // All of each portion must be taken, so that no other change wakes one that was missed.
                for portion in 1...2_000 {
                    desk.tickets += 10
                    let isTaken = desk.wait(until: { $0.tickets == 0 }, timeout: .seconds(240))
                    try #require(isTaken, "Portion \(portion) was not taken.")
                }
                ended.wait { $0 == 32 }
                try poll("nobody waits") { !desk.hasWaiters }
            }
        }
    }
}

/// A thread that waits for a number to become one.
private struct Waiting {
    let thread: RunningThread

    /// Returns when the condition is in the list.
    init(_ number: Protected<Int>, _ body: @escaping @Sendable (_ isMet: @escaping @Sendable (Int) -> Bool) -> Void) {
        let isTested = Door()
        thread = RunningThread {
            body { number in
                isTested.open()
                return number == 1
            }
        }
        isTested.waitUntilOpen()
        // The lock is free when the condition is there.
        number.read { _ in }
    }
}

private actor Owner {
    let jobs = Jobs()

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe jobs.asUnownedSerialExecutor() }

    func write(
        _ number: Protected<Int>,
        timeout: DispatchTimeInterval,
        when isMet: @escaping @Sendable (Int) -> Bool
    ) async throws -> Void? {
        try await number.write(when: isMet, timeout: timeout) { _ in Issue.record("It was called.") }
    }
}

private struct Desk: Sendable {
    var tickets = 0
    var left = 20_000

    var isReady: Bool { tickets > 0 || left == 0 }

    mutating func take() {
        if left == 0 { return }
        tickets -= 1
        left -= 1
    }
}

extension Protected<Desk> {
    /// Takes a ticket, or does something else when there is one.
    fileprivate func visit(_ number: Int) {
        switch number {
        case ..<100: _ = write(when: { $0.isReady }, timeout: .microseconds(number)) { $0.take() }
        case ..<200: _ = try? write(when: { $0.isReady }) { _ in throw Refusal(code: 1) }
        case ..<300: write(when: { $0.isReady }) { _ in }
        default: write(when: { $0.isReady }) { $0.take() }
        }
    }

    /// The same for a task.
    fileprivate func visit(_ number: Int) async {
        switch number {
        case ..<100: _ = try? await write(when: { $0.isReady }, timeout: .microseconds(number)) { $0.take() }
        case ..<200: _ = try? await write(when: { $0.isReady }) { _ in throw Refusal(code: 1) }
        case ..<300: try? await write(when: { $0.isReady }) { _ in }
        case ..<400:
            let task = Task { try await write(when: { $0.isReady }) { $0.take() } }
            if number.isMultiple(of: 2) { await Task.yield() }
            task.cancel()
            _ = await task.result
        default: try? await write(when: { $0.isReady }) { $0.take() }
        }
    }
}
