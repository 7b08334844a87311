//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("Tries and time-outs of a protected value")
struct ProtectedTimeoutTests {
    @Test("A try gets a value that nobody is accessing, and says what the closure says")
    func tries() {
        let number = Protected(1)
        #expect(number.tryRead { $0 + 1 } == 2)
        #expect(number.tryWrite { $0 += 1 } != nil)
        #expect(number.tryWrite { $0 } == 2)
        #expect(number.write(timeout: .seconds(0)) { $0 += 1 } != nil)
        #expect(number.write(timeout: .seconds(300)) { $0 += 1 } != nil)
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

    @Test("A write with a time-out has its turn, however often another thread takes the value again at once")
    func besideHolder() throws {
        try inTime {
            let (number, isOver) = (Protected(0), Protected(false))
            let holder = RunningThread {
                while !isOver.wrappedValue { number.read { _ in Thread.sleep(forTimeInterval: 0.002) } }
            }
            for _ in 0..<8 {
                let hasWritten: Void? = number.write(timeout: .seconds(100)) { $0 += 1 }
                #expect(hasWritten != nil)
            }
            isOver.wrappedValue = true
            holder.join()
        }
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
}

private struct Failed: Error, Equatable {}

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
