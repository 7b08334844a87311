//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("The time in line of a thread that comes there again and again")
struct TimeInLineTests {
    private var time = TimeInLine(line: 1, arrival: 1_000)

    @Test("The last time counts exactly, from whenever it is asked")
    mutating func lastTime() {
        time.add(from: 1_000, to: 1_010)
        time.add(from: 5_000, to: 5_100)
        let times = [4_990, 5_000, 5_001, 5_060, 5_100, 6_000].map { time.nanoseconds(since: $0) }
        #expect(times.dropFirst() == [100, 99, 40, 0, 0])
        #expect(times[0] == 100)
    }

    @Test("What a thread did before it came the first time does not count")
    mutating func firstTime() {
        time.add(from: 1_000, to: 1_100)
        #expect(time.nanoseconds(since: 0) == 100)
        #expect(time.nanoseconds(since: 1_000) == 100)
    }

    @Test("Before the last time, it counts how much of the time it has stood there until now")
    mutating func before() {
        // Half of the time.
        for begin in stride(from: UInt64(1_000), to: 9_000, by: 200) { time.add(from: begin, to: begin + 100) }
        // The last time was from 8,800 until 8,900.
        #expect(time.nanoseconds(since: 8_800) == 100)
        #expect((1_000...1_100).contains(time.nanoseconds(since: 6_900)))
        #expect((3_950...4_100).contains(time.nanoseconds(since: 0)))
    }

    @Test("What is long ago counts for little", arguments: [true, false])
    mutating func longAgo(stoodThere: Bool) {
        let second: UInt64 = 1_000_000_000
        var arrival: UInt64 = 1_000
        // A second in which it stands there all the time, or never, and one in which that is the other way round.
        for stands in [stoodThere, !stoodThere] {
            for _ in 0..<100 {
                let end = arrival + second / 100
                time.add(from: stands ? arrival : end, to: end)
                arrival = end
            }
        }
        time.add(from: arrival, to: arrival)
        let latest = time.nanoseconds(since: arrival - second / 10)
        #expect(stoodThere ? latest < second / 50 : latest > second / 12)
    }

    @Test("Arrivals that are later than the clock count as hardly any time")
    mutating func laterThanClock() {
        time.add(from: 1_000, to: 990)
        time.add(from: 1_001, to: 995)
        time.add(from: 998, to: 999)
        #expect(time.nanoseconds(since: 900) <= 3)
        time.add(from: 2_000, to: 2_000)
        #expect(time.nanoseconds(since: 1_500) <= 3)
    }
}
