//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("Protected, tries and waits that can end")
struct ProtectedWaitingTests {
    @Test("A try gets a value that nobody is accessing, and says what the closure says")
    func tries() {
        let number = Protected(1)
        #expect(number.tryRead { $0 + 1 } == 2)
        #expect(number.tryWrite { $0 += 1 } != nil)
        #expect(number.tryWrite { $0 } == 2)
        #expect(number.write(timeout: .seconds(0)) { $0 += 1 } != nil)
        #expect(number.write(timeout: .seconds(60)) { $0 += 1 } != nil)
        #expect(number.write(timeout: .seconds(.max)) { $0 += 1 } != nil)
        #expect(number.write(timeout: .never) { $0 += 1 } != nil)
        #expect(number.wrappedValue == 6)
    }

    @Test("A try of a value that another thread is accessing doesn't call its closure")
    func triesInVain() {
        let number = Protected(1)
        whileLocked(number) {
            #expect(number.tryRead { _ in Issue.record("It was called.") } == nil)
            #expect(number.tryWrite { _ in Issue.record("It was called.") } == nil)
            for timeout: DispatchTimeInterval in [.seconds(0), .nanoseconds(-1), .milliseconds(1)] {
                #expect(number.write(timeout: timeout) { _ in Issue.record("It was called.") } == nil)
            }
            #expect(!number.hasMet(within: .seconds(0)) { _ in true })
            #expect(!number.hasMet(within: .milliseconds(1)) { _ in true })
        }
        #expect(number.tryRead { $0 } == 1)
    }

    @Test("A try of a value that this thread is accessing answers, and so does a time-out of zero")
    func triesFromInside() {
        let number = Protected(1)
        number.write { _ in
            #expect(number.tryRead { $0 } == nil)
            #expect(number.tryWrite { $0 } == nil)
            #expect(number.write(timeout: .seconds(0)) { $0 } == nil)
            #expect(!number.hasMet(within: .seconds(0)) { _ in true })
        }
        #expect(number.wrappedValue == 1)
    }

    @Test("What a closure throws comes out typed, and frees the lock")
    func throwing() {
        let number = Protected(1)
        #expect(throws: Failed()) { try number.tryRead { _ throws(Failed) in throw Failed() } }
        #expect(throws: Failed()) { try number.tryWrite { _ throws(Failed) in throw Failed() } }
        #expect(throws: Failed()) { try number.write(timeout: .seconds(9)) { _ throws(Failed) in throw Failed() } }
        #expect(number.tryRead { $0 } == 1)
    }

    @Test("A write with a time-out has its turn when the lock becomes free, by whatever access", arguments: 0..<4)
    func turnInTime(access: Int) {
        let numbers = Protected([1])
        let (isHeld, isWaiting, mayEnd) = (Door(), Door(), Door())
        // The holder lets go only when the writer is about to wait; whether it waits already then is left to chance.
        let holder = RunningThread {
            let body = {
                isHeld.open()
                mayEnd.waitUntilOpen()
            }
            switch access {
            case 0: numbers.read { _ in body() }
            case 1: numbers.write { _ in body() }
            case 2: _ = numbers.tryRead { _ in body() }
            default: withLocked(numbers, Protected(0)) { _, _ in body() }
            }
        }
        isHeld.waitUntilOpen()
        let writer = RunningThread {
            isWaiting.open()
            #expect(numbers.write(timeout: .seconds(600)) { $0.append(2) } != nil)
        }
        isWaiting.waitUntilOpen()
        if access.isMultiple(of: 2) { Thread.sleep(forTimeInterval: 0.002) }
        mayEnd.open()
        holder.join()
        writer.join()
        #expect(numbers.wrappedValue == [1, 2])
    }

    @Test("Of writes with short time-outs on a crowded value, each is done once or not at all")
    func crowded() {
        let number = Protected(0)
        let done = Protected(0)
        onThreads(4) { index in
            var own = 0
            for round in 0..<500 {
                let timeout = DispatchTimeInterval.microseconds((round &* 7 &+ index) % 60)
                let hasWritten: Void? = number.write(timeout: timeout) { number in
                    number += 1
                    if round.isMultiple(of: 16) { Thread.sleep(forTimeInterval: 0.000_05) }
                }
                if hasWritten != nil { own += 1 }
            }
            done.wrappedValue += own
        }
        #expect(number.wrappedValue == done.wrappedValue)
    }

    @Test("Many writes that wait with a time-out all get their turns")
    func noWaiterIsForgotten() {
        let number = Protected(0)
        onThreads(6) { _ in
            for round in 0..<200 {
                let hasWritten: Void? = number.write(timeout: .seconds(600)) { number in
                    number += 1
                    // Long enough for the others to park.
                    if round.isMultiple(of: 20) { Thread.sleep(forTimeInterval: 0.000_2) }
                }
                #expect(hasWritten != nil)
            }
        }
        #expect(number.wrappedValue == 1_200)
    }

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
        pair.write((-1, -1))
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
            let (isAsked, mayAnswer) = (Door(), Door())
            let seen = Log<Int>()
            let waiter = RunningThread {
                let isMet = value.hasMet(within: .seconds(1)) {
                    [last = Last { seen.add(value.wrappedValue) }] number in
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

/// Every way to change a protected value so that its numbers are `[1]`.
enum Change: String, CaseIterable, Sendable {
    case set, modify, setMember, modifyMember, write, replace, throwing, append, appendMany, transition
    case exchange, swap, swapBack, withLocked, withMany, tryWrite, writeInTime

    func make(to value: Protected<NumberList>) {
        let new = NumberList(numbers: [1])
        switch self {
        case .set: value.wrappedValue = new
        case .modify: value.wrappedValue.numbers.append(1)
        case .setMember: value.numbers = [1]
        case .modifyMember: value.numbers.append(1)
        case .write: value.write { $0.numbers.append(1) }
        case .replace: value.write(new)
        case .throwing:
            try? value.write { value throws(Failed) in
                value.numbers.append(1)
                throw Failed()
            }
        case .append: value.append(1)
        case .appendMany: value.append(contentsOf: [1])
        case .transition: #expect(value.attemptToTransition(to: new))
        case .exchange: #expect(value.exchange(new).numbers == [])
        case .swap: value.swap(with: Protected(new))
        case .swapBack: Protected(new).swap(with: value)
        case .withLocked: ThreadSafeValue.withLocked(Protected(0), value) { $1.numbers.append(1) }
        case .withMany:
            ThreadSafeValue.withLocked(value, Protected(0), Protected("")) { value, _, _ in value.append(1) }
        case .tryWrite: while value.tryWrite({ $0.numbers.append(1) }) == nil {}
        case .writeInTime: #expect(value.write(timeout: .seconds(600)) { $0.numbers.append(1) } != nil)
        }
    }
}

/// A value that all kinds of change suit.
struct NumberList: Sendable, RangeReplaceableCollection, Transitionable {
    var numbers = [Int]()

    init() {}

    init(numbers: [Int]) {
        self.numbers = numbers
    }

    var startIndex: Int { numbers.startIndex }
    var endIndex: Int { numbers.endIndex }

    subscript(position: Int) -> Int { numbers[position] }

    func index(after index: Int) -> Int { index + 1 }

    mutating func replaceSubrange(_ range: Range<Int>, with newElements: some Collection<Int>) {
        numbers.replaceSubrange(range, with: newElements)
    }

    func canTransition(to next: NumberList) -> Bool { true }
}

private struct Failed: Error, Equatable {}

extension Protected {
    // `#expect` doesn't let a closure be `@Sendable` unless it comes last.
    fileprivate func hasMet(within timeout: DispatchTimeInterval, _ condition: @escaping @Sendable (Value) -> Bool)
        -> Bool
    {
        wait(until: condition, timeout: timeout)
    }
}

/// Runs a closure while another thread accesses a value.
private func whileLocked<Value: Sendable>(_ value: Protected<Value>, _ body: () -> Void) {
    let (isLocked, mayEnd) = (Door(), Door())
    let holder = RunningThread {
        value.read { _ in
            isLocked.open()
            mayEnd.waitUntilOpen()
        }
    }
    isLocked.waitUntilOpen()
    body()
    mayEnd.open()
    holder.join()
}
