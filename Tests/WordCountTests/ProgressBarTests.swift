//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing

@testable import WordCount

@Suite("WordCount, progress bar")
struct ProgressBarTests {
    @Test("It fills from left to right, and fits in 80 columns")
    func fills() {
        var bar = ProgressBar(title: "Counting", total: 4)
        #expect(bar.drawing == "Counting [>                       ] 0 of 4 files")
        bar.done = 2
        #expect(bar.drawing == "Counting [============>           ] 2 of 4 files")
        #expect(bar.line == "Counting: 2 of 4 files")
        bar.done = 4
        #expect(bar.drawing == "Counting [========================] 4 of 4 files")
        var long = ProgressBar(title: "Counting", total: 999_999)
        long.done = 999_998
        #expect(long.drawing.count < 80)
    }

    @Test("Nothing to do is done")
    func isFull() {
        #expect(ProgressBar(title: "Counting", total: 0).drawing == "Counting [========================] 0 of 0 files")
    }
}
