//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("Several queue-safe values at once")
struct SeveralQueueSafeValuesTests {
    /// A container that answers with another value each time.
    private struct Changing: QueueSafeContainer {
        let values = [QueueSafeValue(value: 0), QueueSafeValue(value: 0)]
        let count = Protected(0)

        var queueSafeValue: QueueSafeValue<Int> {
            count.write {
                $0 += 1
                return values[$0 % 2]
            }
        }
    }

    @Test("A container is asked for its value once, whatever it answers the next time")
    func changingContainer() {
        let (container, other) = (Changing(), QueueSafeValue(value: 0))
        let hasTurn = withLocked(container, other) { value, _ in
            value += 1
            return container.values.map { $0.wait(timeout: .seconds(0)).lowestPriority.get() }
        }
        #expect(hasTurn == .success([.success(0), .failure(.reentrantCommand)]))
        withLocked([container, container]) { values in values = values.map { $0 + 1 } }
        #expect(container.values.map { $0.wait.lowestPriority.get() } == [.success(1), .success(2)])
    }

    private struct Refused: Error {}

    @Test func `Two, three and a list of values are changed together`() {
        let values = (1...4).map { QueueSafeValue(value: $0) }
        let text = QueueSafeValue(value: "")
        let answer = withLocked(values[0], text) { number, text in
            number += 1
            text += "\(number)"
            return text
        }
        #expect(answer == .success("2"))
        withLocked(values[0], text, values[1], priority: .highest) { $1 += "\($0 + $2)" }
        #expect(text.wait.lowestPriority.get() == .success("24"))
        withLocked(values, priority: .high, timeout: .seconds(300)) { numbers in
            for index in numbers.indices { numbers[index] *= 10 }
        }
        #expect(values.map { $0.wait.lowestPriority.get() } == [20, 20, 30, 40].map { .success($0) })
        #expect(withLocked([QueueSafeValue<Int>]()) { $0.count } == .success(0))
    }

    @Test func `What the closure throws is told, and what it changed stays`() {
        let (left, right) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
        let answer = withLocked(left, right) { left, right in
            left += 1
            throw Refused()
        }
        guard case .failure(.unexpected(let error)) = answer else {
            Issue.record("It told nothing.")
            return
        }
        #expect(error is Refused)
        let list = withLocked([left, right]) { numbers in
            numbers[1] += 1
            throw Refused()
        }
        guard case .failure(.unexpected) = list else {
            Issue.record("It told nothing.")
            return
        }
        #expect(left.wait.lowestPriority.get() == .success(1))
        #expect(right.wait.lowestPriority.get() == .success(1))
    }

    @Test func `Transfers of 8 threads between all pairs of accounts: no circle, and no money is lost`() throws {
        let (sum, failures) = try inTime {
            let accounts = (0..<4).map { _ in QueueSafeValue(value: 1_000) }
            let failures = Log<QueueSafeValueError>()
            onThreads(8) { thread in
                for round in 0..<1_000 {
                    let (from, to) = ((thread + round) % 4, (thread + round + 1 + round % 3) % 4)
                    let answer = withLocked(accounts[from], accounts[to], priority: .medium) { from, to in
                        let amount = min(from, 7)
                        from -= amount
                        to += amount
                    }
                    if case .failure(let failure) = answer { failures.add(failure) }
                    if round % 100 == 0 {
                        let sum = withLocked(accounts.shuffled()) { $0.reduce(0, +) }
                        if sum != .success(4_000) { failures.add(.circularWait) }
                    }
                }
            }
            return (withLocked(accounts) { $0.reduce(0, +) }, failures.entries)
        }
        #expect(sum == .success(4_000))
        #expect(failures == [])
    }

    @Test func `Out of time, the turns that it had are free again`() throws {
        try inTime {
            let values = (0..<3).map { QueueSafeValue(value: $0) }
            for busy in values.indices {
                let blocker = Blocker(values[busy])
                for timeout in [DispatchTimeInterval.seconds(0), .milliseconds(5)] {
                    #expect(withLocked(values, timeout: timeout) { $0.count } == .failure(.timedOut))
                    let sum = withLocked(values[0], values[1], values[2], timeout: timeout) { $0 + $1 + $2 }
                    #expect(sum == .failure(.timedOut))
                }
                for (index, value) in values.enumerated() {
                    let answer = value.wait(timeout: .seconds(0)).lowestPriority.get()
                    #expect(answer == (index == busy ? .failure(.timedOut) : .success(index)))
                }
                blocker.end()
            }
            #expect(withLocked(values, timeout: .seconds(0)) { $0.reduce(0, +) } == .success(3))
        }
    }

    @Test func `A value that is named twice, or whose command this is, answers`() throws {
        let answers = try inTime {
            let (left, right) = (QueueSafeValue(value: 1), QueueSafeValue(value: 2))
            let answers = Log<Result<Int, QueueSafeValueError>>()
            answers.add(withLocked(left, left) { $0 + $1 })
            answers.add(withLocked(left, right, left) { $0 + $1 + $2 })
            answers.add(withLocked([right, right]) { $0.count })
            for value in [left, right] {
                value.wait.lowestPriority.set { _ in answers.add(withLocked(left, right) { $0 + $1 }) }
            }
            answers.add(withLocked(left, right, timeout: .seconds(0)) { $0 + $1 })
            return answers.entries
        }
        #expect(answers == Array(repeating: .failure(.reentrantCommand), count: 5) + [.success(3)])
    }

    @Test func `Those who listen are told, when the turns are free`() async {
        let (left, right) = (QueueSafeValue(value: 1), QueueSafeValue(value: 2))
        var changes = left.changes().makeAsyncIterator()
        let result = swapValues(left, right)
        #expect(result == .success(3))
        #expect(await changes.next() == 2)
        #expect(await right.async.lowestPriority.get() == .success(1))
    }

    @Test func `While those who listen are told, none of the values is in use`() {
        let values = [QueueSafeValue<Last?>(value: nil), QueueSafeValue(value: nil)]
        let answers = Log<Result<Bool, QueueSafeValueError>>()
        // What a listener has not fetched goes away when it is told of the next change.
        let changes = values.map { $0.changes() }
        @Sendable func askAll() {
            for value in values { answers.add(value.wait(timeout: .seconds(0)).lowestPriority.map { $0 == nil }) }
        }
        withLocked(values[0], values[1]) { left, right in
            left = Last(whenGone: askAll)
            right = Last(whenGone: askAll)
        }
        withLocked(values[0], values[1]) { left, right in (left, right) = (nil, nil) }
        #expect(answers.entries == Array(repeating: .success(true), count: 4))
        withExtendedLifetime(changes) {}
    }

    private func swapValues(_ left: QueueSafeValue<Int>, _ right: QueueSafeValue<Int>) -> Result<
        Int, QueueSafeValueError
    > {
        withLocked(left, right) { left, right in
            swap(&left, &right)
            return left + right
        }
    }

    @Test func `A list whose length is changed crashes with a message`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 60)
            _ = withLocked([QueueSafeValue(value: 1)]) { $0.removeAll() }
        }
        #expect(result?.crashMessage.contains("changed the number of the values") == true)
    }
}
