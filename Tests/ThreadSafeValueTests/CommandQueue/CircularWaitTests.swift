//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("Mistakes answer: threads that take values in different orders")
struct CircularWaitTests {
    @Test("Two threads that take two values in opposite orders, 200 times: one fails, one goes on")
    func oppositeOrders() throws {
        let (answers, sums) = try inTime {
            let values = [QueueSafeValue(value: 0), QueueSafeValue(value: 0)]
            let answers = Log<Answer>()
            let rounds = (0..<200).map { _ in (bothHaveOne: StartGate(count: 2), bothAreDone: StartGate(count: 2)) }
            onThreads(2) { index in
                for round in rounds {
                    values[index].wait.lowestPriority.set { _ in
                        round.bothHaveOne.pass()
                        answers.add(values[1 - index].wait.highestPriority.set { $0 += 1 })
                    }
                    round.bothAreDone.pass()
                }
            }
            return (answers.entries, values.map { $0.wait.lowestPriority.get() })
        }
        #expect(answers.filter { $0 == .failure(.circularWait) }.count == 200)
        #expect(answers.count == 400)
        #expect(try sums.reduce(0) { try $0 + $1.get() } == 200)
    }

    @Test("Without a gate as well, and no answer is anything else", arguments: [2, 3])
    func circlesByChance(count: Int) throws {
        let (answers, sums) = try inTime {
            let values = (0..<count).map { _ in QueueSafeValue(value: 0) }
            let answers = Log<Answer>()
            onThreads(count) { index in
                for round in 0..<1_000 {
                    values[index].wait.lowestPriority.set { _ in
                        let next = values[(index + 1) % count].wait
                        answers.add((round % 2 == 0 ? next.highestPriority : next.lowestPriority).set { $0 += 1 })
                    }
                }
            }
            return (answers.entries, values.map { $0.wait.lowestPriority.get() })
        }
        let failures = answers.filter { $0 == .failure(.circularWait) }.count
        #expect(answers.count == count * 1_000)
        #expect(try sums.reduce(0) { try $0 + $1.get() } == answers.count - failures)
        #expect(answers.allSatisfy { $0 == .failure(.circularWait) || (try? $0.get()) != nil })
    }

    @Test("A circle of three values, one of them taken by an async command: one fails, two go on")
    func circleOfThree() throws {
        let answers = try inTime {
            let answers = Log<Answer>()
            for _ in 0..<100 {
                let values = (0..<3).map { _ in QueueSafeValue(value: 0) }
                let gate = StartGate(count: 3)
                let group = DispatchGroup()
                let body: @Sendable (Int) -> Void = { index in
                    gate.pass()
                    answers.add(values[(index + 1) % 3].wait.lowestPriority.set { $0 += 1 })
                    group.leave()
                }
                for _ in 0..<3 { group.enter() }
                for index in 0..<2 { Thread { values[index].wait.highestPriority.set { _ in body(index) } }.start() }
                values[2].async(performIn: DispatchQueue(label: "third")).lowestPriority.set { _ in body(2) }
                group.wait()
            }
            return answers.entries
        }
        #expect(answers.filter { $0 == .failure(.circularWait) }.count == 100)
        #expect(answers.filter { $0 == .success(1) }.count == 200)
    }

    @Test("Threads that wait in a row, not in a circle, all succeed")
    func noFalseCircle() throws {
        let answers = try inTime {
            let values = (0..<4).map { _ in QueueSafeValue(value: 0) }
            let answers = Log<Answer>()
            onThreads(4) { index in
                for _ in 0..<500 {
                    // Always in one order: there is no circle.
                    values[index % 3].wait.lowestPriority.set { _ in
                        answers.add(values[3].wait.highestPriority.set { $0 += 1 })
                    }
                }
            }
            return answers.entries
        }
        #expect(answers.count == 2_000)
        #expect(answers.allSatisfy { (try? $0.get()) != nil })
    }

    // MARK: A wait with a time-out ends by itself, and so closes no circle

    @Test("A thread that closes a circle with one that has a time-out gets its turn when that gives up")
    func timedFirst() throws {
        let answers = try run(first: .milliseconds(100), second: nil)
        #expect(answers == [.failure(.timedOut), .success(1)])
    }

    @Test("A thread with a time-out that closes a circle is answered that its time is over")
    func timedSecond() throws {
        let answers = try run(first: nil, second: .milliseconds(100))
        #expect(answers == [.success(1), .failure(.timedOut)])
    }

    /// The second gives up long before the first does, and has given its own turn back then.
    @Test("Of two with time-outs only the shorter one gives up")
    func bothTimed() throws {
        let answers = try run(first: .seconds(300), second: .milliseconds(50))
        #expect(answers == [.success(1), .failure(.timedOut)])
    }

    @Test("Without time-outs the one that would close the circle is told so")
    func untimed() throws {
        let answers = try run(first: nil, second: nil)
        // Each looks when it has waited for a moment, and a busy machine may wake the second one first.
        #expect([[.success(1), .failure(.circularWait)], [.failure(.circularWait), .success(1)]].contains(answers))
    }

    @Test("A circle of three, of which one wait has a time-out, ends with that one")
    func three() throws {
        let answers = try inTime {
            let values = (0..<3).map { _ in QueueSafeValue(value: 0) }
            let answers = Protected<[Int: Answer]>([:])
            let allHaveOne = StartGate(count: 3)
            onThreads(3) { index in
                values[index].wait.lowestPriority.set { _ in
                    allHaveOne.pass()
                    // One after the other, so that the last closes the circle.
                    try? poll("it is its turn to wait") {
                        (0..<index).allSatisfy {
                            values[$0 + 1].pendingCommandCount() == 1 || answers.wrappedValue[$0] != nil
                        }
                    }
                    let next = values[(index + 1) % 3]
                    let answer =
                        index == 1
                        ? next.wait(timeout: .milliseconds(200)).lowestPriority.set { $0 += 1 }
                        : next.wait.lowestPriority.set { $0 += 1 }
                    answers.write { $0[index] = answer }
                }
            }
            return answers.wrappedValue
        }
        #expect(answers == [0: .success(1), 1: .failure(.timedOut), 2: .success(1)])
    }

    /// Answers of two threads, of which the first waits for the value of the second before that waits for the value of
    /// the first.
    ///
    /// The second begins to wait when the first is seen in line, so it is always the second that closes the circle; a
    /// busy machine can only let a time-out pass before, which changes no answer.
    private func run(first: DispatchTimeInterval?, second: DispatchTimeInterval?) throws -> [Answer?] {
        try inTime {
            let values = [QueueSafeValue(value: 0), QueueSafeValue(value: 0)]
            let timeouts = [first, second]
            let answers = Protected<[Answer?]>([nil, nil])
            let bothHaveOne = StartGate(count: 2)
            let firstWaits = Door()
            let watcher = RunningThread {
                // Of a wait that is over already there is nothing to see any more.
                try? poll("the first waits") {
                    values[1].pendingCommandCount() == 1 || answers.wrappedValue[0] != nil
                }
                firstWaits.open()
            }
            onThreads(2) { index in
                values[index].wait.lowestPriority.set { _ in
                    bothHaveOne.pass()
                    if index == 1 { firstWaits.waitUntilOpen() }
                    let other = values[1 - index]
                    let answer =
                        if let timeout = timeouts[index] {
                            other.wait(timeout: timeout).lowestPriority.set { $0 += 1 }
                        } else {
                            other.wait.lowestPriority.set { $0 += 1 }
                        }
                    answers.write { $0[index] = answer }
                }
            }
            watcher.join()
            return answers.wrappedValue
        }
    }
}
