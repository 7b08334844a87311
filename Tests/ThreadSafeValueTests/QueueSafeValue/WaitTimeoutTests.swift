//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("Waiting commands that end in time")
struct WaitTimeoutTests {
    private let value = QueueSafeValue(value: 0)

    /// Calls `body` while a manual command has the turn, on whose end others may wait.
    private func whileTurnIsTaken(_ body: () -> Void) {
        let isTaken = DispatchSemaphore(value: 0)
        let release = Protected<CommandCompletionClosure?>(nil)
        value.async(performIn: .userInitiated).highestPriority.set { _, done in
            release.write(done)
            isTaken.signal()
        }
        isTaken.wait()
        body()
        release.wrappedValue?()
    }

    @Test func `A command whose turn does not come in time is timed out and never runs`() {
        whileTurnIsTaken {
            #expect(value.wait(timeout: .milliseconds(20)).highestPriority.set { $0 = 1 } == .failure(.timedOut))
            #expect(value.wait(timeout: .milliseconds(1)).lowestPriority.map { $0 } == .failure(.timedOut))
            let manual = value.wait(timeout: .milliseconds(1)).highestPriority.set { value, done in
                value = 2
                done()
            }
            #expect(manual == .failure(.timedOut))
        }
        #expect(value.wait.lowestPriority.get() == .success(0))
    }

    @Test(arguments: [DispatchTimeInterval.seconds(0), .milliseconds(-5), .nanoseconds(0)])
    func `Zero takes the turn only if it is free now`(timeout: DispatchTimeInterval) {
        #expect(value.wait(timeout: timeout).highestPriority.set { $0 += 1 } == .success(1))
        whileTurnIsTaken {
            #expect(value.wait(timeout: timeout).highestPriority.set { $0 += 1 } == .failure(.timedOut))
        }
        #expect(value.wait.lowestPriority.get() == .success(1))
    }

    @Test(arguments: [DispatchTimeInterval.never, .seconds(Int.max), .seconds(3600)])
    func `A long time is as good as for ever`(timeout: DispatchTimeInterval) {
        whileTurnIsTaken {}
        #expect(value.wait(timeout: timeout).highestPriority.set { $0 += 1 } == .success(1))
    }

    @Test func `The time runs until the turn and not until the completion`() {
        let result = value.wait(timeout: .milliseconds(10)).highestPriority.set { value, done in
            value = 3
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { done() }
        }
        #expect(result == .success(3))
    }

    @Test func `A time-out that races the turn ends in exactly one of the two`() {
        let runs = Protected(0)
        var taken = 0
        var timedOut = 0
        for round in 0..<300 {
            let isTaken = DispatchSemaphore(value: 0)
            value.async(performIn: .userInitiated).highestPriority.set { _, done in
                isTaken.signal()
                DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(200)) { done() }
            }
            isTaken.wait()
            let result = value.wait(timeout: .microseconds(50 + round)).highestPriority.set { _ in
                runs.write { $0 += 1 }
            }
            switch result {
            case .success: taken += 1
            case .failure(let error):
                #expect(error == .timedOut)
                timedOut += 1
            }
        }
        #expect(taken + timedOut == 300)
        #expect(runs.wrappedValue == taken)
        #expect(value.wait.lowestPriority.get() == .success(0))
    }

    @Test func `A command inside a command of the same value is re-entrant, however long it would wait`() {
        value.wait.highestPriority.set { _ in
            #expect(value.wait(timeout: .seconds(0)).highestPriority.get() == .failure(.reentrantCommand))
            #expect(value.wait(timeout: .seconds(9)).highestPriority.get() == .failure(.reentrantCommand))
        }
    }

    @Test func `A command with a time-out ends by itself, so it closes no circle`() throws {
        let other = QueueSafeValue(value: 0)
        let answers = Log<Result<Int, QueueSafeValueError>>()
        try inTime { [value] in
            value.wait.lowestPriority.set { _ in
                _ = RunningThread { other.wait.lowestPriority.set { _ in value.wait.lowestPriority.set { $0 += 1 } } }
                try value.waitForPending(1)
                answers.add(other.wait(timeout: .seconds(0)).lowestPriority.get())
                answers.add(other.wait(timeout: .milliseconds(20)).lowestPriority.get())
            }
            // Once the thread is done with both.
            _ = other.wait.lowestPriority.get()
        }
        #expect(answers.entries == [.failure(.timedOut), .failure(.timedOut)])
        #expect(value.wait.lowestPriority.get() == .success(1))
    }

    @Test("20,000 commands of eight threads time out while another has the turn, and leave no trace in the line")
    func manyTimedOut() throws {
        let timedOut = Log<Int>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let blocker = Blocker(value)
            onThreads(8) { index in
                var count = 0
                for round in 0..<rounds(2_500) {
                    let wait = value.wait(timeout: .nanoseconds(round % 50)).priority(.allCases[(round + index) % 5])
                    if wait.set(completion: { $0 += 1 }) == .failure(.timedOut) { count += 1 }
                }
                timedOut.add(count)
            }
            #expect(value.pendingCommandCount() == 0)
            blocker.end()
            #expect(value.wait.lowestPriority.get() == .success(0))
        }
        #expect(timedOut.entries == Array(repeating: rounds(2_500), count: 8))
    }
}
