//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue
import ThreadSafeValueTesting

@testable import Counting

#if EverySchedule
@Suite("The counter of the example WordCount")
struct CounterTests {
    @Test("Counts of all threads are added up, and each file is counted once")
    func counts() throws {
        try everySchedule { schedule in
            let (counts, files) = (SharedCounts(), WorkList(["a b", "b", "a"]))
            for name in ["first", "second"] {
                schedule.thread(name) {
                    while let file = files.next() { counts.add(WordCounts(in: file)) }
                }
            }
            schedule.check("all words") { counts.all == ["a": 2, "b": 2] }
        }
    }

    @Test("What is handed in is in the report, whenever that is asked for")
    func desk() throws {
        try everySchedule { schedule in
            let desk = ReportDesk()
            for name in ["first", "second"] {
                schedule.thread(name) { desk.handIn(.counted(path: name, words: ["a": 1])) }
            }
            schedule.thread("asks") { try desk.snapshot() }
            schedule.check("both") { try desk.result().files == 2 }
        }
    }
}
#endif
