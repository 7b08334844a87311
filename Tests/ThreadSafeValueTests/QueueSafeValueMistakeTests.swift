//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("QueueSafeValue, promise 7: mistakes answer")
struct QueueSafeValueMistakeTests {
    // MARK: Waiting for oneself

    @Test("`wait` inside a command of the same value fails at once, in every form and through other values")
    func nestedWait() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 1)
            let other = QueueSafeSyncedValue(value: 2)
            let third = QueueSafeValue(value: 3)
            let answers = Log<Answer>()
            let wait = value.wait.lowestPriority
            wait.get { _ in answers.add(value.wait.highestPriority.get()) }
            wait.set { _ in answers.add(value.wait.lowestPriority.set { $0 += 1 }) }
            _ = wait.map { _ in answers.add(value.wait.highestPriority.map { $0 }) }
            wait.set { _, done in
                answers.add(value.wait.highestPriority.set { $1() })
                done()
                answers.add(value.wait.highestPriority.set(newValue: 5))
            }
            wait.get { _, done in
                value.wait.highestPriority.get { answers.add($0) }
                value.wait.highestPriority.get { result, done in
                    answers.add(result)
                    done()
                }
                done()
            }
            wait.set { _ in
                other.lowestPriority.set { _ in
                    third.wait.highestPriority.set { _, done in
                        DispatchQueue(label: "on this thread").sync { answers.add(value.wait.highestPriority.get()) }
                        answers.add(other.lowestPriority.get())
                        done()
                    }
                }
            }
            answers.add(wait.get())
            return answers.entries
        }
        #expect(answers == Array(repeating: .failure(.reentrantCommand), count: 9) + [.success(1)])
    }

    @Test("Also inside async commands, whose completions may wait")
    func nestedWaitInAsync() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 1)
            let answers = Log<Answer>()
            let commands = value.async(performIn: DispatchQueue(label: "target")).highestPriority
            let group = DispatchGroup()
            for _ in 0..<4 { group.enter() }
            commands.get { _ in
                answers.add(value.wait.highestPriority.get())
                group.leave()
            }
            commands.set { _ in
                answers.add(value.wait.highestPriority.get())
            } completion: { _ in
                answers.add(value.wait.highestPriority.get())
                group.leave()
            }
            commands.set { _, done in
                answers.add(value.wait.highestPriority.get())
                done()
                answers.add(value.wait.highestPriority.get())
            } completion: { _ in
                answers.add(value.wait.highestPriority.get())
                group.leave()
            }
            commands.get { _, done in
                done()
                answers.add(value.wait.highestPriority.get())
                group.leave()
            }
            group.wait()
            return answers.entries
        }
        #expect(answers.filter { $0 == .failure(.reentrantCommand) }.count == 5)
        #expect(answers.filter { $0 == .success(1) }.count == 2)
    }

    /// The time-out is for a completion that has the turn still.
    @Test("Also after manual commands, which others complete")
    func manualCompletion() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "manual")
            let answers = Log<Answer>()
            let done = Log<CommandCompletionClosure>()
            value.async(performIn: queue).lowestPriority.set { number, complete in
                number = 1
                done.add(complete)
            } completion: { _ in
                answers.add(value.wait(timeout: .seconds(20)).lowestPriority.get())
            }
            try poll("the closure has begun") { done.count == 1 }
            // And returned.
            queue.sync {}
            done.entries[0]()
            queue.sync {}
            return answers.entries
        }
        #expect(answers == [.success(1)])
    }

    @Test("An object that a command lets go may wait for the value in its `deinit`, after the command")
    func deinitWaits() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 1)
            let answers = Log<Answer>()
            let queue = DispatchQueue(label: "target")
            let blocker = Blocker(value)
            for _ in 0..<5 {
                let atEnd = AtEnd { answers.add(value.wait.highestPriority.get()) }
                value.async(performIn: queue).lowestPriority.set { _ in withExtendedLifetime(atEnd) {} }
            }
            blocker.end()
            try poll("all objects are gone") { answers.count == 5 }
            return answers.entries
        }
        #expect(answers == Array(repeating: .success(1), count: 5))
    }

    // MARK: Waiting in a circle

    @Test("Two threads that take two values in opposite orders, 1,000 times: one fails, one goes on")
    func oppositeOrders() throws {
        let (answers, sums) = try inTime {
            let values = [QueueSafeValue(value: 0), QueueSafeValue(value: 0)]
            let answers = Log<Answer>()
            let rounds = (0..<1_000).map { _ in (bothHaveOne: StartGate(count: 2), bothAreDone: StartGate(count: 2)) }
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
        #expect(answers.filter { $0 == .failure(.circularWait) }.count == 1_000)
        #expect(answers.count == 2_000)
        #expect(try sums.reduce(0) { try $0 + $1.get() } == 1_000)
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

    // MARK: Calling `done`

    @Test("A `done` that is dropped frees the turn and is told", arguments: ["in the closure", "later", "elsewhere"])
    func dropped(when: String) throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0)
            let answers = Log<Answer>()
            let drop: @Sendable (@escaping CommandCompletionClosure) -> Void = { done in
                switch when {
                case "in the closure": break
                case "later": DispatchQueue.global().asyncAfter(deadline: .now() + 0.01) { _ = done }
                default: Thread { _ = done }.start()
                }
            }
            answers.add(
                value.wait.lowestPriority.set { number, done in
                    number += 1
                    drop(done)
                }
            )
            answers.add(value.wait.highestPriority.get { _, done in drop(done) })
            let group = DispatchGroup()
            for _ in 0..<2 { group.enter() }
            let commands = value.async(performIn: DispatchQueue(label: "target")).lowestPriority
            commands.set { number, done in
                number += 1
                drop(done)
            } completion: { result in
                answers.add(result)
                group.leave()
            }
            commands.get { _, done in
                drop(done)
            } completion: { result in
                answers.add(result)
                group.leave()
            }
            group.wait()
            // Nobody is told of these, but the turn goes on.
            commands.set { _, done in drop(done) }
            answers.add(value.wait.lowestPriority.get())
            return answers.entries
        }
        #expect(answers == Array(repeating: .failure(.completionDropped), count: 4) + [.success(2)])
    }

    @Test("A second `done()` does nothing, also much later, while others have the turn")
    func doubled() throws {
        let log = Log<String>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let old = Log<CommandCompletionClosure>()
            let answer = value.wait.lowestPriority.set { number, done in
                number += 1
                old.add(done)
                done()
                done()
            }
            log.add("\(answer)")
            let told = DispatchGroup()
            told.enter()
            value.async(performIn: DispatchQueue(label: "target")).lowestPriority.set { number, done in
                number += 1
                old.add(done)
                DispatchQueue.global().async {
                    done()
                    done()
                }
            } completion: { result in
                log.add("\(result)")
                told.leave()
            }
            told.wait()
            let blocker = Blocker(value)
            let thread = RunningThread { value.wait.highestPriority.set { _ in log.add("next") } }
            try value.waitForPending(1)
            for done in old.entries { done() }
            RunningThread { for done in old.entries { done() } }.join()
            #expect(value.pendingCommandCount == 1)
            log.add("blocker ends")
            blocker.end()
            thread.join()
            for done in old.entries { done() }
            log.add("\(value.wait.lowestPriority.get())")
        }
        #expect(log.entries == ["success(1)", "success(2)", "blocker ends", "next", "success(2)"])
    }

    @Test("Two threads that call the same `done` at once complete the command once")
    func doubledAtOnce() throws {
        let (answers, completions) = try inTime {
            let value = QueueSafeValue(value: 0)
            let completions = Log<Answer>()
            let group = DispatchGroup()
            var answers: [Answer] = []
            for _ in 0..<200 {
                group.enter()
                value.async(performIn: DispatchQueue(label: "target")).highestPriority.set { number, done in
                    number += 1
                    let gate = StartGate(count: 2)
                    for _ in 0..<2 {
                        Thread {
                            gate.pass()
                            done()
                        }.start()
                    }
                } completion: { result in
                    completions.add(result)
                    group.leave()
                }
                answers.append(
                    value.wait.lowestPriority.set { number, done in
                        number += 1
                        let gate = StartGate(count: 2)
                        Thread {
                            gate.pass()
                            done()
                        }.start()
                        gate.pass()
                        done()
                    }
                )
            }
            group.wait()
            return (answers + [value.wait.lowestPriority.get()], completions.entries)
        }
        #expect(answers.last == .success(400))
        #expect(answers.allSatisfy { (try? $0.get()) != nil })
        #expect(completions.count == 200)
        #expect(completions.allSatisfy { (try? $0.get()) != nil })
    }

    @Test("A `done` after the value's container is gone completes the command, and lets the value go")
    func late() throws {
        let tally = Counted.Tally()
        let answers = try inTime {
            let answers = Log<Int?>()
            let old = Log<CommandCompletionClosure>()
            let started = Door()
            let told = Door()
            do {
                let value = QueueSafeValue(value: Counted(7, tally: tally))
                value.async(performIn: DispatchQueue(label: "target")).lowestPriority.set { _, done in
                    old.add(done)
                    started.open()
                } completion: { result in
                    answers.add((try? result.get())?.id)
                    told.open()
                }
                started.waitUntilOpen()
            }
            answers.add(tally.alive)
            old.entries[0]()
            told.waitUntilOpen()
            old.entries[0]()
            // `done` is still kept, and keeps nothing.
            try poll("the value is gone") { tally.alive == 0 }
            old.entries[0]()
            return answers.entries
        }
        #expect(answers == [1, 7])
    }

    // MARK: Throwing, and having no closure

    @Test("A closure that throws answers with its error, what it changed stays, and the next goes on")
    func throwing() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0)
            let answers = Log<Answer>()
            let wait = value.wait.highestPriority
            answers.add(
                wait.set {
                    $0 += 1
                    throw Refusal()
                }
            )
            answers.add(wait.map { _ in throw Refusal() })
            answers.add(
                wait.set { number, _ in
                    number += 1
                    throw Refusal()
                }
            )
            answers.add(
                wait.set { number, done in
                    number += 1
                    DispatchQueue.global().asyncAfter(deadline: .now() + 0.01) { done() }
                    throw Refusal()
                }
            )
            answers.add(
                wait.set { number, done in
                    number += 1
                    done()
                    throw Refusal()
                }
            )
            let commands = value.async(performIn: .utility).lowestPriority
            let group = DispatchGroup()
            for _ in 0..<4 { group.enter() }
            let tell: @Sendable (Answer) -> Void = { result in
                answers.add(result)
                group.leave()
            }
            commands.set {
                $0 += 1
                throw Refusal()
            } completion: {
                tell($0)
            }
            commands.set { number, _ in
                number += 1
                throw Refusal()
            } completion: {
                tell($0)
            }
            commands.set { number, done in
                number += 1
                DispatchQueue.global().async { done() }
                throw Refusal()
            } completion: { _ in
                group.leave()
            }
            commands.set { number, done in
                number += 1
                done()
                throw Refusal()
            } completion: {
                tell($0)
            }
            commands.set { (_: inout Int) in throw Refusal() }
            commands.set { (_: inout Int, _) in throw Refusal() }
            group.wait()
            answers.add(wait.get())
            return answers.entries
        }
        #expect(answers == Array(repeating: .failure(.unexpected(error: Refusal())), count: 8) + [.success(8)])
    }

    @Test("A closure that is `nil` answers so, and the value is untouched")
    func noClosure() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 1)
            let answers = Log<Answer>()
            let wait = value.wait.lowestPriority
            answers.add(wait.set(completion: nil))
            answers.add(wait.set(manualCompletion: nil))
            answers.add(wait.get(manualCompletion: nil))
            let mapping: ((Int) throws -> Int)? = nil
            answers.add(wait.map(completion: mapping))
            wait.get(completion: nil)
            let commands = value.async(performIn: .utility).lowestPriority
            let group = DispatchGroup()
            for _ in 0..<3 { group.enter() }
            let tell: @Sendable (Answer) -> Void = { result in
                answers.add(result)
                group.leave()
            }
            commands.get(completion: nil)
            commands.get(manualCompletion: nil, completion: tell)
            commands.set(accessClosure: nil, completion: tell)
            commands.set(manualCompletion: nil, completion: tell)
            commands.set(accessClosure: nil)
            commands.set(manualCompletion: nil)
            commands.get(manualCompletion: nil)
            commands.set(newValue: 2, completion: nil)
            group.wait()
            answers.add(wait.set { $0 += 1 })
            return answers.entries
        }
        #expect(answers.dropLast() == Array(repeating: .failure(.commandClosureDeallocated), count: 7)[...])
        #expect([.success(2), .success(3)].contains(answers.last))
    }
}

/// Says when it goes away.
private final class AtEnd: Sendable {
    private let tell: @Sendable () -> Void

    init(_ tell: @escaping @Sendable () -> Void) {
        self.tell = tell
    }

    deinit {
        tell()
    }
}

@Suite("A manual command that completes and throws")
struct CompletedAndThrownTests {
    private struct Thrown: Error {}

    @Test("Ends with the error, on a thread and on a queue")
    func endsWithTheError() {
        let value = QueueSafeValue(value: 0)
        let result = value.wait.highestPriority.set { _, done in
            done()
            throw Thrown()
        }
        #expect(result == .failure(.unexpected(error: Thrown())))
        let finished = DispatchSemaphore(value: 0)
        value.async(performIn: .utility).highestPriority.set { _, done in
            done()
            throw Thrown()
        } completion: {
            #expect($0 == .failure(.unexpected(error: Thrown())))
            finished.signal()
        }
        finished.wait()
        #expect(value.wait.highestPriority.get() == .success(0))
    }
}
