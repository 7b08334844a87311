//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("update: a change and its answer in one command")
struct UpdateTests {
    private struct Refused: Error {}

    @Test func `A waiting command answers what its closure returns`() {
        let value = QueueSafeValue(value: [1, 2, 3])
        #expect(value.wait.lowestPriority.update { $0.removeFirst() } == .success(1))
        value.wait.highestPriority.update { $0.removeLast() }
        #expect(value.wait(timeout: .seconds(0)).highestPriority.update { $0.count } == .success(1))
        let thrown = value.wait.lowestPriority.update { list -> Int in
            list.removeAll()
            throw Refused()
        }
        #expect(thrown == .failure(.unexpected(error: Refused())))
        #expect(value.wait.lowestPriority.get() == .success([]))
    }

    @Test func `The answer of a waiting command need not be Sendable`() throws {
        final class Answer {
            var number = 0
        }
        let value = QueueSafeValue(value: 1)
        let answer = try value.wait.lowestPriority.update { number in
            number += 1
            let answer = Answer()
            answer.number = number
            return answer
        }.get()
        #expect(answer.number == 2)
    }

    @Test func `Each of 8 threads gets numbers that nobody else gets`() throws {
        let numbers = try inTime {
            let value = QueueSafeValue(value: 0)
            let numbers = Log<Int>()
            onThreads(8) { _ in
                for _ in 0..<100 {
                    let number = value.wait.lowestPriority.update { current in
                        current += 1
                        return current
                    }
                    if case .success(let number) = number { numbers.add(number) }
                }
            }
            return numbers.entries
        }
        #expect(numbers.sorted() == Array(1...800))
    }

    @Test func `A completion gets the answer on the target queue`() throws {
        let (answers, isOnQueue) = try inTime {
            let key = DispatchSpecificKey<Bool>()
            let queue = DispatchQueue(label: "target")
            queue.setSpecific(key: key, value: true)
            let value = QueueSafeValue(value: 1)
            let answers = Log<Result<String, QueueSafeValueError>>()
            let places = Log<Bool>()
            let end = DispatchSemaphore(value: 0)
            let commands = value.async(performIn: queue).lowestPriority
            commands.update { number in
                number += 1
                return "\(number)"
            } completion: { answer in
                answers.add(answer)
                places.add(DispatchQueue.getSpecific(key: key) == true)
            }
            commands.update { _ -> String in
                throw Refused()
            } completion: { answer in
                answers.add(answer)
                end.signal()
            }
            end.wait()
            let blocker = Blocker(value)
            let handle = commands.update(
                { "\($0)" },
                completion: { answer in
                    answers.add(answer)
                    end.signal()
                }
            )
            handle.cancel()
            end.wait()
            blocker.end()
            return (answers.entries, places.entries)
        }
        #expect(answers == [.success("2"), .failure(.unexpected(error: Refused())), .failure(.cancelled)])
        #expect(isOnQueue == [true])
    }

    @Test func `An awaited command answers what its closure returns, also an async one`() async {
        let value = QueueSafeValue(value: [1, 2, 3])
        #expect(await value.async.lowestPriority.update { $0.removeFirst() } == .success(1))
        let last = await value.async.highestPriority.update { list in
            await Task.yield()
            return list.removeLast()
        }
        #expect(last == .success(3))
        #expect(await value.async.lowestPriority.get() == .success([2]))
    }

    @Test func `A change by update is told to those who listen`() async {
        let value = QueueSafeValue(value: 0)
        var changes = value.changes(buffering: .unbounded).makeAsyncIterator()
        value.wait.lowestPriority.update { $0 += 1 }
        await value.async.lowestPriority.update { $0 += 1 }
        let end = DispatchQueue(label: "target")
        value.async(performIn: end).lowestPriority.update {
            $0 += 1
        } completion: { _ in
        }
        for expected in 1...3 { #expect(await changes.next() == expected) }
    }
}
