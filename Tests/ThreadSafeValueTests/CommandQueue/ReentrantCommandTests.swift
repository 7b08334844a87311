//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("Mistakes answer: a command inside a command of its own value")
struct ReentrantCommandTests {
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
                answers.add(value.wait(timeout: .seconds(300)).lowestPriority.get())
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

    @Test("A command at any depth inside commands of other values waits for none of them, and for itself neither")
    func reentrancyAtAnyDepth() throws {
        let answers = try inTime {
            let values = (0..<30).map { QueueSafeValue(value: $0) }
            let answers = Log<Answer>()
            @Sendable func descend(to depth: Int) {
                for value in values[..<depth] {
                    answers.add(value.wait.highestPriority.get())
                    answers.add(value.wait(timeout: .seconds(300)).lowestPriority.set { $0 += 1 })
                }
                if depth < values.count {
                    let wait = values[depth].wait.lowestPriority
                    switch depth % 4 {
                    case 0: wait.set { _ in descend(to: depth + 1) }
                    case 1: wait.get { _ in descend(to: depth + 1) }
                    case 2: _ = wait.map { _ in descend(to: depth + 1) }
                    default:
                        wait.set { _, done in
                            descend(to: depth + 1)
                            done()
                        }
                    }
                }
            }
            let end = Door()
            values[0].async(performIn: DispatchQueue(label: "outermost")).lowestPriority.set { _ in
                descend(to: 1)
                end.open()
            }
            end.waitUntilOpen()
            return answers.entries
        }
        #expect(answers == Array(repeating: .failure(.reentrantCommand), count: 30 * 31))
    }
}
