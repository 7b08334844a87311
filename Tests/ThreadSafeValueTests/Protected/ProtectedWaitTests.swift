//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("Waiting until a protected value meets a condition")
struct ProtectedWaitTests {
    @Test("A wait ends at once if the value meets the condition already")
    func metAlready() {
        let number = Protected(3)
        number.wait { $0 == 3 }
        #expect(number.hasMet(within: .seconds(0)) { $0 == 3 })
        #expect(number.hasMet(within: .seconds(600)) { $0 == 3 })
        #expect(!number.hasMet(within: .seconds(0)) { $0 == 4 })
        #expect(!number.hasMet(within: .milliseconds(1)) { $0 == 4 })
    }

    @Test("Every kind of change wakes a wait", arguments: Change.allCases)
    func wakes(change: Change) {
        let value = Protected(NumberList())
        let isTested = Door()
        let waiter = RunningThread {
            value.wait { value in
                isTested.open()
                return value.numbers == [1]
            }
        }
        isTested.waitUntilOpen()
        change.make(to: value)
        waiter.join()
        #expect(value.numbers == [1])
    }

    @Test("A condition is tested after every change, so a state that lasts for a moment only is not missed")
    func noChangeIsMissed() {
        let number = Protected(0)
        let isTested = Door()
        let waiter = RunningThread {
            number.wait { number in
                isTested.open()
                return number == 500
            }
        }
        isTested.waitUntilOpen()
        for _ in 0..<1_000 { number.wrappedValue += 1 }
        waiter.join()
        #expect(number.wrappedValue == 1_000)
    }

    @Test("A condition is tested on a value that nobody else can change meanwhile")
    func testedUnderLock() {
        let pair = Protected((1, 1))
        let isOver = Protected(false)
        let waiter = RunningThread {
            pair.wait { pair in
                #expect(pair.0 == pair.1)
                return pair.0 < 0
            }
            isOver.wrappedValue = true
        }
        onThreads(3) { _ in
            for _ in 0..<2_000 {
                pair.write { pair in
                    pair.0 += 1
                    pair.1 += 1
                }
            }
        }
        pair.wrappedValue = (-1, -1)
        waiter.join()
        #expect(isOver.wrappedValue)
    }

    @Test("A wait that races its time-out ends in one of the two, and says which")
    func racesTimeout() {
        for round in 0..<200 {
            let number = Protected(0)
            let answers = Protected([Bool]())
            let waiters = (0..<3).map { index in
                RunningThread {
                    let timeout = DispatchTimeInterval.microseconds(1 + (round * 3 + index) % 200)
                    answers.append(number.wait(until: { $0 == 1 }, timeout: timeout))
                }
            }
            number.wrappedValue = 1
            for waiter in waiters { waiter.join() }
            #expect(answers.count == 3)
            // Whoever comes now needs nobody's change.
            #expect(number.hasMet(within: .seconds(600)) { $0 == 1 })
        }
    }

    @Test("A buffer between threads: nothing is lost, and nobody sleeps for ever")
    func buffer() {
        let buffer = Protected([Int]())
        let received = Protected([Int]())
        let consumers = (0..<3).map { _ in
            RunningThread {
                while true {
                    buffer.wait { !$0.isEmpty }
                    guard let next = buffer.write({ $0.isEmpty ? nil : $0.removeFirst() }) else { continue }
                    if next < 0 { return }
                    received.append(next)
                }
            }
        }
        onThreads(2) { index in
            for count in 0..<500 { buffer.append(index * 500 + count) }
        }
        for _ in consumers { buffer.append(-1) }
        for consumer in consumers { consumer.join() }
        #expect(received.wrappedValue.sorted() == Array(0..<1_000))
    }

    @Test("What a condition has captured goes away without the lock, also when its time is over while it is asked")
    func captured() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let value = Protected(0)
            let (isAsked, mayAnswer, isGone) = (Door(), Door(), Door())
            let seen = Log<Int>()
            let waiter = RunningThread {
                let last = Last {
                    seen.add(value.wrappedValue)
                    isGone.open()
                }
                let isMet = value.hasMet(within: .seconds(1)) { number in
                    withExtendedLifetime(last) {
                        if number == 1 {
                            isAsked.open()
                            mayAnswer.waitUntilOpen()
                        }
                        return false
                    }
                }
                #expect(!isMet)
            }
            try poll("the condition is there") { value.hasWaiters }
            let writer = RunningThread { value.wrappedValue = 1 }
            isAsked.waitUntilOpen()
            waiter.join()
            mayAnswer.open()
            writer.join()
            isGone.waitUntilOpen()
            #expect(seen.entries == [1])
        }
    }

    @Test("Waits and time-outs leave nothing behind")
    func leavesNothing() {
        let tally = Counted.Tally()
        do {
            let value = Protected(Counted(1, tally: tally))
            do {
                let condition: @Sendable (Counted) -> Bool = { [counted = Counted(tally: tally)] _ in counted.id == 1 }
                let isMet = value.wait(until: condition, timeout: .milliseconds(1))
                #expect(!isMet)
            }
            #expect(tally.alive == 1)
            let waiter = RunningThread { [counted = Counted(3, tally: tally)] in
                value.wait { $0.id == counted.id }
            }
            value.wrappedValue = Counted(3, tally: tally)
            waiter.join()
            #expect(tally.alive == 1)
        }
        #expect(tally.alive == 0)
    }
}

extension Protected {
    // `#expect` doesn't let a closure be `@Sendable` unless it comes last.
    func hasMet(within timeout: DispatchTimeInterval, _ condition: @escaping @Sendable (Value) -> Bool)
        -> Bool
    {
        wait(until: condition, timeout: timeout)
    }
}
