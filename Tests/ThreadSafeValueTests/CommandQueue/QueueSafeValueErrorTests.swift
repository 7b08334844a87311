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
