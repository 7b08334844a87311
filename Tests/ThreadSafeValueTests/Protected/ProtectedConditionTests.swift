//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

@Suite("Changes of a protected value that wait for a condition")
struct ProtectedConditionTests {
    @Test("A write that waits for a condition is one step: of many consumers each takes what is there, once")
    func oneStep() throws {
        try inTime {
            let (buffer, received) = (Protected([Int]()), Protected([Int]()))
            let consumers = (0..<3).map { _ in
                RunningThread {
                    while true {
                        // It would trap if another thread came between the test and the change.
                        let next = buffer.write(when: { !$0.isEmpty }) { $0.removeFirst() }
                        if next < 0 { return }
                        received.append(next)
                    }
                }
            }
            onThreads(2) { index in
                for count in 0..<500 { buffer.append(index * 500 + count) }
            }
            for _ in consumers { buffer.append(-1) }
            for consumer in consumers { consumer.join() }
            #expect(received.wrappedValue.sorted() == Array(0..<1_000))
        }
    }

    @Test("A write whose condition holds already is done at once, and one whose doesn't leaves with its time-out")
    func inTimeOrNot() {
        let number = Protected(1)
        #expect(number.write(when: { $0 == 1 }) { $0 += 1 } == ())
        #expect(number.write(when: { $0 == 2 }, timeout: .seconds(0)) { $0 } == 2)
        let inVain: (inout Int) -> Void = { _ in Issue.record("It was called.") }
        #expect(number.write(when: { $0 == 3 }, timeout: .seconds(0), inVain) == nil)
        #expect(number.write(when: { $0 == 3 }, timeout: .milliseconds(1), inVain) == nil)
        #expect(!number.hasWaiters)
        number.read { _ in
            #expect(number.write(when: { _ in true }, timeout: .seconds(0), inVain) == nil)
        }
        #expect(number.write(when: { $0 == 2 }, timeout: .seconds(600)) { $0 += 1 } != nil)
        #expect(number.wrappedValue == 3)
    }

    @Test("What the closure of a write that waits throws comes out typed, and frees the lock")
    func throwing() {
        let number = Protected(1)
        #expect(throws: Refusal(code: 3)) {
            try number.write(when: { $0 == 1 }) { _ throws(Refusal) in throw Refusal(code: 3) }
        }
        #expect(number.tryRead { $0 } == 1)
    }

    @Test("A task that waits goes on when the value meets the condition, be it for a moment, and holds up no thread")
    func awaits() async throws {
        let number = Protected(0)
        let isTested = Door()
        let waiting = Task {
            try await number.wait { number in
                isTested.open()
                return number == 500
            }
        }
        try await onThreadOfItsOwn {
            isTested.waitUntilOpen()
            for _ in 0..<1_000 { number.wrappedValue += 1 }
        }
        try await waiting.value
        try await number.wait { $0 == 1_000 }
        #expect(!number.hasWaiters)
    }

    @Test("A cancelled task waits no more, whether it was cancelled before or after it began to wait")
    func cancelled() async throws {
        let number = Protected(0)
        for round in 0..<100 {
            let isTested = Door()
            let waiting = Task {
                try await number.wait { _ in
                    isTested.open()
                    return false
                }
            }
            if round.isMultiple(of: 2) { try await onThreadOfItsOwn { isTested.waitUntilOpen() } }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        #expect(!number.hasWaiters)
    }

    @Test("A task's write that waits for a condition is one step as well: each task takes what is there, once")
    func tasks() async throws {
        let (buffer, received) = (Protected([Int]()), Protected([Int]()))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    while true {
                        // It would trap if another task came between the test and the change.
                        let next = try await buffer.write(when: { !$0.isEmpty }) { $0.removeFirst() }
                        if next < 0 { return }
                        received.append(next)
                    }
                }
            }
            try await onThreadOfItsOwn {
                // One at a time, so that all tasks go on for each.
                for number in 0..<1_000 {
                    buffer.append(number)
                    buffer.wait { $0.isEmpty }
                }
                for _ in 0..<4 { buffer.append(-1) }
            }
            try await group.waitForAll()
        }
        #expect(received.wrappedValue.sorted() == Array(0..<1_000))
        #expect(!buffer.hasWaiters)
    }

    @Test("A task's write returns what its closure returns, `nil` too, throws what that throws, and runs on its actor")
    @MainActor
    func taskAnswers() async throws {
        let numbers = Protected([Int]())
        let last = try await numbers.write(when: { $0.isEmpty }) { numbers in
            MainActor.assertIsolated()
            return numbers.popLast()
        }
        #expect(last == nil)
        await #expect(throws: Refusal(code: 3)) {
            try await numbers.write(when: { $0.isEmpty }) { _ in throw Refusal(code: 3) }
        }
        #expect(numbers.tryRead { $0 } == [])
    }

    /// The task goes on behind what the actor does now.
    @Test("A task's write is not called when the task is cancelled, its condition met or not", arguments: [1, 2])
    @MainActor
    func cancelledBeforeItsTurn(value: Int) async throws {
        let number = Protected(0)
        let isTested = Door()
        let waiting = Task {
            try await number.write { number in
                isTested.open()
                return number == 1
            } _: { _ in
                Issue.record("It was called.")
            }
        }
        try await onThreadOfItsOwn { isTested.waitUntilOpen() }
        number.wrappedValue = value
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(number.wrappedValue == value)
    }

    @Test("Nor is it if the task is cancelled while it tests the condition")
    func cancelledAtTheTest() async throws {
        let number = Protected(0)
        let waiting = Task {
            try await number.write { _ in
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return true
            } _: { _ in
                Issue.record("It was called.")
            }
        }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(number.tryRead { $0 } == 0)
        try poll("nobody waits") { !number.hasWaiters }
    }

    @Test("A task that finds its condition unmet again has changed nothing: those who listen hear of each change once")
    func noChange() async throws {
        let number = Protected(0)
        let changes = number.changes(buffering: .unbounded)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { try await number.write(when: { $0 % 2 == 1 }) { $0 += 1 } }
            }
            try await onThreadOfItsOwn {
                for _ in 0..<8 {
                    number.wrappedValue += 1
                    number.wait { $0 % 2 == 0 }
                }
            }
            try await group.waitForAll()
        }
        var seen: [Int] = []
        for await number in changes {
            seen.append(number)
            if number == 16 { break }
        }
        #expect(seen == Array(1...16))
    }

    @Test("A cancellation that races the change resumes the task once")
    func races() async throws {
        for _ in 0..<200 {
            let number = Protected(0)
            let waiting = Task { try await number.wait { $0 == 1 } }
            let changing = Task { number.wrappedValue = 1 }
            waiting.cancel()
            _ = await waiting.result
            await changing.value
            // A queue takes out the wait that left while the value was being accessed.
            try poll("nobody waits") { !number.hasWaiters }
        }
    }

    /// It may be in accesses to other values, which a `deinit` may use.
    @Test(
        "What the condition of one who waits no more captured never goes away on the thread that tests it",
        arguments: [false, true]
    )
    func goesAwayElsewhere(isTask: Bool) async throws {
        let isGoneOnWriter = try await onThreadOfItsOwn {
            try inTime {
                let number = Protected(0)
                let (waits, isTested, hasLeft, isGone) = (Door(), Door(), Door(), Door())
                let (writer, isGoneOnWriter) = (ThreadID.current, Protected(false))
                @Sendable func condition() -> @Sendable (Int) -> Bool {
                    let last = Last {
                        isGoneOnWriter.wrappedValue = ThreadID.current == writer
                        isGone.open()
                    }
                    return { number in
                        withExtendedLifetime(last) {}
                        // First tested by the one who waits, with the lock until it does.
                        waits.open()
                        if number == 0 { return false }
                        isTested.open()
                        hasLeft.waitUntilOpen()
                        return false
                    }
                }
                if isTask {
                    OwnThreads.run {
                        let waiting = Task { try await number.wait(until: condition()) }
                        try? await onThreadOfItsOwn { isTested.waitUntilOpen() }
                        waiting.cancel()
                        _ = await waiting.result
                        hasLeft.open()
                    }
                } else {
                    _ = RunningThread {
                        _ = number.wait(until: condition(), timeout: .milliseconds(200))
                        hasLeft.open()
                    }
                }
                waits.waitUntilOpen()
                number.wrappedValue = 1
                isGone.waitUntilOpen()
                return isGoneOnWriter.wrappedValue
            }
        }
        #expect(!isGoneOnWriter)
    }

    /// The first of them go on while the others are woken.
    @Test("Nor does what those captured whose conditions are met", arguments: [false, true])
    func goesAwayWhenMet(isSeveral: Bool) throws {
        let count = try inTime {
            let (number, other) = (Protected(0), Protected(0))
            let (writer, goneOnWriter) = (ThreadID.current, Protected(0))
            for round in 1...20 {
                let tests = Protected(0)
                let threads = (0..<20).map { _ in
                    RunningThread {
                        let last = Last { if ThreadID.current == writer { goneOnWriter.write { $0 += 1 } } }
                        number.wait { number in
                            withExtendedLifetime(last) {}
                            tests.write { $0 += 1 }
                            return number == round
                        }
                    }
                }
                try poll("all wait") { tests.wrappedValue == threads.count }
                if isSeveral {
                    withLocked(number, other) { number, _ in number = round }
                } else {
                    number.wrappedValue = round
                }
                for thread in threads { thread.join() }
            }
            return goneOnWriter.wrappedValue
        }
        #expect(count == 0)
    }
}
