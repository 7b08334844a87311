//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// How users write accesses to a protected value. Compiled twice, as the other call forms.

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

    @Test func `a member's subscript with a default`() {
        let settings = Protected(Settings())
        settings.counts["a", default: 0] += 1
        #expect(settings.counts == ["a": 1])
    }

    @Test func `a lock around a closure in an async function`() async {
        let lock = PlatformLock()
        let text = lock.around { "a" }
        await Task.yield()
        #expect(text == "a")
    }
}
