//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// How users write accesses to a protected value. Compiled twice, as the other call forms.

import Dispatch
import Testing
import ThreadSafeValue

private struct Settings: Codable, Equatable, Sendable {
    @Protected var recent: [String] = []
    @Protected var name: String?
    var counts: [String: Int] = [:]
}

@Suite("The call forms of protected values")
struct ProtectedCallForms {
    @Test func `subscripts of a handle`() {
        let counts = Protected<[String: Int]>([:])
        for word in ["a", "b", "a"] { counts[word, default: 0] += 1 }
        #expect(counts["a"] == 2)
        counts["a"]? += 1
        counts["b"] = nil
        #expect(counts["a", default: 0] == 3)
        let list = Protected([3, 1, 2])
        list[1...].sort(by: >)
        #expect(list[..<2] == [3, 2])
        list[0] += 1
        #expect(list[0] == 4)
    }

    @Test func `a task's change on a condition, in time or not`() async throws {
        let idle = Protected([1])
        let first = try await idle.write(when: { !$0.isEmpty }, timeout: .seconds(600)) { $0.removeLast() }
        let second = try await idle.write(when: { !$0.isEmpty }, timeout: .milliseconds(1)) { $0.removeLast() }
        #expect(first == 1)
        #expect(second == nil)
    }

    @Test func `a member's subscript with a default`() {
        let settings = Protected(Settings())
        settings.counts["a", default: 0] += 1
        #expect(settings.counts == ["a": 1])
    }

    @Test func `a lock around a closure in an async function`() async {
        let lock = PlatformLock()
        let text = lock.around { "a" }
        await Task.yield()
        #expect(lock.withLock { text } == "a")
        let visits = Protected(0)
        visits.withLock { $0 += 1 }
        #expect(visits.withLock { $0 + 1 } == 2)
    }

    @Test func `an optional is read before it is replaced by a default`() {
        let error = Protected<String?>("e7")
        #expect(error.wrappedValue ?? "-" == "e7")
        error.wrappedValue = nil
        #expect(error.wrappedValue == nil)
        #expect(Protected(Settings()).name ?? "-" == "-")
    }

    @Test func `resumed and yielded after the access`() async {
        let waiting = Protected<[CheckedContinuation<Int, Never>]>([])
        let visits = Protected(0)
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let answer = await withCheckedContinuation { continuation in
            waiting.append(continuation)
            let next = waiting.write { $0.popLast() }
            next?.resume(returning: 1)
        }
        #expect(answer == 1)
        let count = visits.write { visits in
            visits += 1
            return visits
        }
        continuation.yield(count)
        continuation.finish()
        for await count in stream { #expect(count == 1) }
    }

    @Test func `a loop over changes that ends, though its task keeps the value`() async {
        let progress = Protected(0)
        let changes = progress.changes()
        let loop = Task {
            for await number in changes {
                if number == 100 { break }
                progress.wrappedValue += 1
            }
        }
        progress.wrappedValue = 98
        await loop.value
        #expect(progress.wrappedValue == 100)
    }
}
