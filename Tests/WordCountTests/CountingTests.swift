//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing

@testable import WordCount

@Suite("WordCount, counting")
struct CountingTests {
    @Test("A word is a run of letters and digits that is no number, in lower case")
    func splits() {
        #expect(WordCounts(in: "") == [:])
        #expect(WordCounts(in: " \n,;") == [:])
        #expect(WordCounts(in: "Ab-ab_AB9 0 12 ÄB äb") == ["ab": 2, "ab9": 1, "äb": 2])
    }

    @Test("The check sees a lost word, and one counted for another")
    func checks() {
        func check(_ counts: WordCounts) -> Bool {
            var report = Report()
            report.add(.counted(path: "a", words: ["a": 2, "b": 1]))
            let outcome = Outcome(counts: counts, report: report, threads: 2, seconds: 0)
            return Check(of: outcome, against: ["a": 2, "b": 1], ["a": 1, "b": 1], seconds: 0).hasPassed
        }
        #expect(check(["a": 2, "b": 1]))
        #expect(!check(["a": 1, "b": 1]))
        #expect(!check(["a": 1, "b": 2]))
    }

    @Test("A work list gives each item once, the first first")
    func givesWork() {
        let list = WorkList([1, 2, 3])
        #expect([list.next(), list.next(), list.next(), list.next()] == [1, 2, 3, nil])
    }
}
