//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("Mistakes answer: a `done` that is dropped, called twice or late")
struct ManualCompletionTests {
    /// For the thread sanitizer. What the closure does meanwhile orders no thread behind another.
    @Test("What was done before `done` is visible after the command, also if its closure returns later")
    func visible() {
        for _ in 0..<50 {
            let (value, count) = (QueueSafeValue(value: 0), Unguarded(0))
            let threads = Log<RunningThread>()
            value.wait.lowestPriority.set { _, done in
                let thread = RunningThread {
                    count.value += 1
                    done()
                    // So the end of `done` is not what orders them.
                    spin(2_000_000)
                    withExtendedLifetime(done) {}
                }
                spin(500_000)
                threads.add(thread)
            }
            #expect(count.value == 1)
            threads.entries[0].join()
        }
    }

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
            #expect(value.pendingCommandCount() == 1)
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

    /// Rule 6: callers are told without the turn.
    @Test("The completion of a command that another thread completes finds the turn free")
    func toldWithoutTheTurn() throws {
        let answers = try inTime {
            let (value, queue) = (QueueSafeValue(value: 0), DispatchQueue(label: "told"))
            let answers = Log<Answer>()
            for _ in 0..<rounds(2_000) {
                let isTold = Door()
                value.async(performIn: queue).lowestPriority.set { number, done in
                    number += 1
                    DispatchQueue.global().async { done() }
                } completion: { _ in
                    answers.add(value.wait(timeout: .seconds(0)).lowestPriority.get())
                    isTold.open()
                }
                isTold.waitUntilOpen()
            }
            return answers.entries
        }
        #expect(answers == (1...rounds(2_000)).map { .success($0) })
    }

    private struct Thrown: Error {}

    @Test("A closure that calls `done` and throws answers with its error, on a thread and on a queue")
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
