//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("Order: what was cancelled or has timed out counts for nothing")
struct CountsForNothingTests {
    /// The first command of ten suspends the value, so the nine behind it, which were handed over to run, are put back.
    private func putBack(_ value: QueueSafeValue<Int>, _ queue: DispatchQueue) throws -> [HandleOfCommand] {
        value.suspend()
        let handles = (0..<10).map { index in
            value.async(performIn: queue).highestPriority.set {
                $0 += 1
                if index == 0 { value.suspend() }
            }
        }
        value.resume()
        try poll("the first has begun, and the others wait") { value.pendingCommandCount == 9 }
        // The block that ran the first has ended.
        queue.sync {}
        return Array(handles.dropFirst())
    }

    @Test("A command of a task that was cancelled before takes the turn from nobody", arguments: CancelledForm.allCases)
    func cancelledBefore(_ form: CancelledForm) async throws {
        let value = QueueSafeValue(value: 0)
        let isOver = Protected(false)
        let task = OwnThreads.run {
            while !Task.isCancelled { await Task.yield() }
            while !isOver.wrappedValue {
                let answer = await form.run(value)
                if answer != .failure(.cancelled) { Issue.record("\(answer)") }
            }
        }
        task.cancel()
        try await onThreadOfItsOwn {
            defer { isOver.wrappedValue = true }
            for look in 0..<100_000 {
                let answer = value.wait(timeout: .seconds(0)).highestPriority.get()
                try #require(answer == .success(0), "look \(look)")
            }
        }
        await task.value
    }

    enum CancelledForm: CaseIterable, Codable {
        case closure, condition, body

        func run(_ value: QueueSafeValue<Int>) async -> Result<Int, QueueSafeValueError> {
            switch self {
            case .closure: await value.async.highestPriority.get()
            case .condition: await value.async.highestPriority.update(when: { $0 == 0 }) { $0 }
            case .body: await value.async.highestPriority.set { _ in await Task.yield() }
            }
        }
    }

    @Test("Commands that were put back and are cancelled are not counted, and leave their places to others")
    func limit() throws {
        let (counts, states) = try inTime {
            let value = QueueSafeValue(value: 0, pendingCommandLimit: 10)
            let queue = DispatchQueue(label: "target")
            var counts: [Int] = []
            for handle in try putBack(value, queue) {
                #expect(handle.cancel())
                counts.append(value.pendingCommandCount)
            }
            counts.append(value.pendingCommandCount(.highest))
            let others = (0..<10).map { _ in value.async(performIn: queue).lowestPriority.set { $0 += 10 } }
            counts.append(value.pendingCommandCount)
            let states = others.map(\.state)
            value.resume()
            return (counts, states)
        }
        #expect(counts == Array((0..<9).reversed()) + [0, 10])
        #expect(states == Array(repeating: .waiting, count: 10))
    }

    /// The block begins the second command without the lock of the line, as nothing else waits.
    @Test("Neither is one that has begun")
    func begun() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0, pendingCommandLimit: 2)
            let queue = DispatchQueue(label: "target")
            let answers = Log<Result<Void, QueueSafeValueError>>()
            let group = DispatchGroup()
            let blocker = Blocker(value)
            group.enter()
            value.async(performIn: queue).lowestPriority.set { $0 += 1 }
            value.async(performIn: queue).lowestPriority.set {
                $0 += 1
                for _ in 0..<3 {
                    group.enter()
                    value.async(performIn: queue).lowestPriority.set {
                        $0 += 1
                    } completion: { answer in
                        answers.add(answer.map { _ in })
                        group.leave()
                    }
                }
                group.leave()
            }
            blocker.end()
            group.wait()
            return answers.entries
        }
        #expect(answers.count { (try? $0.get()) != nil } == 2)
        #expect(answers.count { if case .failure(.commandQueueFull) = $0 { true } else { false } } == 1)
    }

    /// The queue of the cancelled commands is suspended: who waits for it waits for 5 ms at least. The least of several
    /// times, as a busy machine only makes them longer.
    @Test("The turn is kept for none of them")
    func turn() throws {
        let times = try inTime {
            try (0..<8).map { _ in
                let value = QueueSafeValue(value: 0)
                let queue = DispatchQueue(label: "target")
                for handle in try putBack(value, queue) { handle.cancel() }
                queue.suspend()
                defer { queue.resume() }
                value.resume()
                return nanoseconds { value.wait.lowestPriority.set { $0 += 1 } }
            }
        }
        #expect(times.min()! < 2_500_000, "\(times) ns")
    }

    @Test("Those cancelled while they wait for the first time and those that time out leave nothing behind either")
    func others() throws {
        let (counts, answer) = try inTime {
            let value = QueueSafeValue(value: 0, pendingCommandLimit: 10)
            let queue = DispatchQueue(label: "target")
            value.suspend()
            var counts: [Int] = []
            for _ in 0..<100 {
                let handles = (0..<10).map { _ in value.async(performIn: queue).highestPriority.set { $0 += 1 } }
                for handle in handles { handle.cancel() }
                value.wait(timeout: .microseconds(100)).highestPriority.set { $0 += 1 }
                counts.append(value.pendingCommandCount)
            }
            queue.suspend()
            defer { queue.resume() }
            value.resume()
            let answer = value.wait(timeout: .seconds(0)).lowestPriority.get()
            return (counts, answer)
        }
        #expect(counts == Array(repeating: 0, count: 100))
        #expect(answer == .success(0))
    }
}
