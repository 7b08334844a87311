//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing

@testable import WordCount

@Suite("WordCount, report")
struct ReportDeskTests {
    @Test("A snapshot overtakes everything in line; the report has it all in the end")
    func overtakes() throws {
        // A queue that stands still is a clerk who is away.
        let clerk = DispatchQueue(label: "clerk")
        clerk.suspend()
        let desk = ReportDesk(clerk: clerk)
        for number in 1...1000 { desk.handIn(.counted(path: "\(number)", words: ["word": number, "\(number)": 1])) }
        desk.handIn(.problem(Problem(path: "a", reason: "b")))
        let early = try desk.snapshot()
        #expect(early.files == 0)
        #expect(early.problems.isEmpty)
        #expect(!desk.isIdle(by: .now()))

        clerk.resume()
        #expect(desk.isIdle(by: .distantFuture))
        let late = try desk.snapshot()
        #expect(late.files == 1001)
        #expect(late.problems == [Problem(path: "a", reason: "b")])
        let report = try desk.result()
        #expect(report.files == 1001)
        #expect(report.words == 501_500)
        #expect(report.spread["word"] == 1000)
        #expect(report.fullest?.path == "1000")
    }
}
