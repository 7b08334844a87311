//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("SleeperLine")
struct SleeperLineTests {
    @Test("Those who come back find their places, in whatever order they come")
    func comesBack() {
        var line = SleeperLine()
        let sleepers = (0..<3).map { Sleeper(UInt64($0) << 4) }
        for sleeper in sleepers { line.insert(sleeper, at: 7) }
        let (first, second) = (line.removeFirst(), line.removeFirst())
        // Both were woken too late, and the one that came first comes back first.
        line.insert(first!, at: 9)
        line.insert(second!, at: 10)
        #expect(line.threads == sleepers.map(\.thread))
        let (again, next) = (line.removeFirst(), line.removeFirst())
        line.insert(next!, at: 11)
        line.insert(again!, at: 12)
        #expect(line.threads == sleepers.map(\.thread))
    }

    @Test("It keeps the order of arrival whatever the clock says")
    func standingClock() {
        var line = SleeperLine()
        let times: [UInt64] = [5, 5, 3, 9, 9, 1]
        for (index, time) in times.enumerated() { line.insert(Sleeper(UInt64(index)), at: time) }
        #expect(line.threads == [0, 1, 2, 3, 4, 5])
    }

    @Test("One that leaves from the middle leaves the others in order, and is not there any more")
    func leaves() {
        var line = SleeperLine()
        let sleepers = (0..<4).map { Sleeper(UInt64($0)) }
        for sleeper in sleepers { line.insert(sleeper, at: 1) }
        line.remove(sleepers[2])
        #expect(line.threads == [0, 1, 3])
        line.remove(sleepers[2])
        #expect(line.threads == [0, 1, 3])
    }

    @Test("Half a millisecond of sleep is enough for few, and more is asked for where many sleep")
    func handoffDelay() {
        var line = SleeperLine()
        line.insert(Sleeper(1), at: 1_000)
        #expect(!line.frontIsOwed(at: 500_999))
        #expect(line.frontIsOwed(at: 501_000))
        for thread in 2...64 { line.insert(Sleeper(UInt64(thread)), at: 1_000) }
        #expect(!line.frontIsOwed(at: 5_120_999))
        #expect(line.frontIsOwed(at: 5_121_000))
        #expect(!SleeperLine().frontIsOwed(at: .max))
    }

    @Test("One that is owed the lock stays so however many come, and so are those before it, but none behind it")
    func owed() {
        var line = SleeperLine()
        let sleepers = (0..<64).map { Sleeper(UInt64($0)) }
        for sleeper in sleepers { line.insert(sleeper, at: 1_000) }
        line.owe(sleepers[1])
        #expect(line.frontIsOwed(at: 1_000))
        line.remove(sleepers[0])
        #expect(line.frontIsOwed(at: 1_000))
        line.remove(sleepers[1])
        #expect(!line.frontIsOwed(at: 1_000))
    }
}
