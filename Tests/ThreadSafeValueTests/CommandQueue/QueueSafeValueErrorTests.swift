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

    @Test func `getOrRethrow returns the answer, or throws what the closure threw, or why the command failed`() throws {
        let value = QueueSafeValue(value: 1)
        let wait = value.wait.lowestPriority
        #expect(try wait.map { $0 + 1 }.getOrRethrow() == 2)
        #expect(throws: Refusal(code: 7)) { try wait.set { _ in throw Refusal(code: 7) }.getOrRethrow() }
        wait.set { _ in
            #expect(throws: QueueSafeValueError.reentrantCommand) { try wait.get().getOrRethrow() }
        }
        for error in Self.all {
            let result = Result<Int, QueueSafeValueError>.failure(error)
            if case .unexpected(let thrown as Refusal) = error {
                #expect(throws: thrown) { try result.getOrRethrow() }
            } else {
                #expect(throws: error) { try result.getOrRethrow() }
            }
        }
    }

    @Test func `Each error has a sentence of its own`() {
        let sentences = Self.all.map { "\($0)" }
        #expect(Set(sentences).count == Self.all.count)
        #expect(sentences.allSatisfy { $0.hasPrefix("The ") && $0.hasSuffix(".") || $0.contains("Refusal(code: ") })
    }
}
