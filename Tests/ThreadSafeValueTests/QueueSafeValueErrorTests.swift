//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("QueueSafeValueError")
struct QueueSafeValueErrorTests {
    private static let all: [QueueSafeValueError] = [
        .valueContainerDeinited, .commandClosureDeallocated, .unexpected(error: Refusal(code: 1)),
        .unexpected(error: Refusal(code: 2)), .reentrantCommand, .circularWait, .completionDropped, .timedOut,
        .cancelled, .commandQueueFull, .notSuspended,
    ]

    @Test func `An error equals itself and no other`() {
        for (index, error) in Self.all.enumerated() {
            for (other, another) in Self.all.enumerated() { #expect((error == another) == (index == other)) }
        }
    }

    @Test func `Each error has a sentence of its own`() {
        let sentences = Self.all.map { "\($0)" }
        #expect(Set(sentences).count == Self.all.count)
        #expect(sentences.allSatisfy { $0.hasPrefix("The ") && $0.hasSuffix(".") || $0.contains("Refusal(code: ") })
    }
}

@Suite("Waiting commands whose closure is optional")
struct OptionalClosureTests {
    @Test func `A closure that is there is called, and answers as if it were not optional`() {
        let value = QueueSafeValue(value: 1)
        let wait = value.wait.lowestPriority
        let change: ((inout Int) throws -> Void)? = { $0 += 1 }
        let manualChange: ((inout Int, @escaping CommandCompletionClosure) throws -> Void)? = { number, done in
            number += 1
            done()
        }
        var told: [Result<Int, QueueSafeValueError>] = []
        let read: ((Result<Int, QueueSafeValueError>) -> Void)? = { told.append($0) }
        let manualRead: ((Result<Int, QueueSafeValueError>, @escaping CommandCompletionClosure) -> Void)? = {
            told.append($0)
            $1()
        }
        let mapping: ((Int) throws -> String)? = { "\($0)" }
        #expect(wait.set(completion: change) == .success(2))
        #expect(wait.set(manualCompletion: manualChange) == .success(3))
        wait.get(completion: read)
        #expect(wait.get(manualCompletion: manualRead) == .success(3))
        #expect(wait.map(completion: mapping) == .success("3"))
        #expect(told == [.success(3), .success(3)])
    }
}
