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

    @Test("The front is owed the lock after a quarter of a millisecond of sleep, and then as often, for few or many")
    func owed() {
        var line = SleeperLine()
        #expect(!owes(&line, .max))
        for thread in 1...64 { line.insert(Sleeper(UInt64(thread)), at: 1_000) }
        #expect(!owes(&line, 250_999))
        #expect(owes(&line, 251_000))
        _ = line.removeFirst()
        #expect(!owes(&line, 500_999))
        #expect(owes(&line, 501_000))
    }

    @Test("One that was woken too late is owed the lock as if it had slept on")
    func owedAgain() {
        var line = SleeperLine()
        line.insert(Sleeper(1), at: 1_000)
        let first = line.removeFirst()!
        line.insert(first, at: 240_000)
        #expect(owes(&line, 251_000))
    }

    // `#expect` takes no call that changes something.
    private func owes(_ line: inout SleeperLine, _ time: UInt64) -> Bool { line.owesFront(at: time) }
}
