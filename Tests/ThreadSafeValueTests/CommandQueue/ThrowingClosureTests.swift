//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("Mistakes answer: a closure that throws, or is `nil`")
struct ThrowingClosureTests {
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

    @Test func `A closure that is there is called, and answers as if it were not optional`() {
        let value = QueueSafeValue(value: 1)
        let wait = value.wait.lowestPriority
        let change: ((inout Int) throws -> Void)? = { $0 += 1 }
        let manualChange: ((inout Int, @escaping CommandCompletionClosure) throws -> Void)? = { number, done in
            number += 1
            done()
        }
        var told: [Result<Int, QueueSafeValueError>] = []
        let read: ((Result<Int, QueueSafeValueError>) -> Void)? = { told.append($0) }
        let manualRead: ((Result<Int, QueueSafeValueError>, @escaping CommandCompletionClosure) -> Void)? = {
            told.append($0)
            $1()
        }
        let mapping: ((Int) throws -> String)? = { "\($0)" }
        #expect(wait.set(completion: change) == .success(2))
        #expect(wait.set(manualCompletion: manualChange) == .success(3))
        wait.get(completion: read)
        #expect(wait.get(manualCompletion: manualRead) == .success(3))
        #expect(wait.map(completion: mapping) == .success("3"))
        #expect(told == [.success(3), .success(3)])
    }
}
