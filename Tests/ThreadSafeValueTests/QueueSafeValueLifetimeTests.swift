//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

@Suite("QueueSafeValue, promise 6: accepted is done")
struct QueueSafeValueLifetimeTests {
    @Test(
        "Async commands accepted before the value's owner goes still run, in order, as does one of a schedule that is kept"
    )
    func acceptedAsync() throws {
        let log = Log<String>()
        try inTime {
            var value: QueueSafeValue<Int>? = QueueSafeValue(value: 0, policy: .unbounded)
            let queue = DispatchQueue(label: "target")
            let kept = value!.async(performIn: queue).highestPriority
            let blocker = Blocker(value!)
            let group = DispatchGroup()
            for index in 0..<3 {
                group.enter()
                let commands = value!.async(performIn: queue).lowestPriority
                commands.set {
                    $0 += 1
                } completion: { result in
                    log.add("\(index) \(result)")
                    group.leave()
                }
            }
            group.enter()
            value!.async(performIn: queue).lowestPriority.set {
                $0 += 10; $1()
            } completion: { result in
                log.add("manual \(result)")
                group.leave()
            }
            value = nil
            group.enter()
            kept.set {
                $0 += 100
            } completion: { result in
                log.add("late \(result)")
                group.leave()
            }
            queue.sync {}
            log.add("blocker ends")
            blocker.end()
            group.wait()
        }
        #expect(
            log.entries == [
                "blocker ends", "late success(100)", "0 success(101)", "1 success(102)", "2 success(103)",
                "manual success(113)",
            ]
        )
    }

    @Test("Threads that wait when the value's owner goes still get their turn, as does one of a schedule that is kept")
    func acceptedWait() throws {
        let answers = Log<Result<Int, QueueSafeValueError>>()
        try inTime {
            var value: QueueSafeValue<Int>? = QueueSafeValue(value: 0)
            let kept = value!.wait.lowestPriority
            let blocker = Blocker(value!)
            let threads = (0..<3).map { _ in RunningThread { answers.add(kept.set { $0 += 1 }) } }
            try value!.waitForPending(3)
            value = nil
            blocker.end()
            for thread in threads { thread.join() }
            answers.add(kept.set { $0 += 1 })
        }
        // The threads note their answers after their turns, in any order.
        #expect(answers.entries.last == .success(4))
        #expect(answers.entries.compactMap { try? $0.get() }.sorted() == [1, 2, 3, 4])
    }

    @Test("Schedules and priorities that are kept keep the value, and all their commands succeed")
    func kept() throws {
        var value: QueueSafeValue<Int>? = QueueSafeValue(value: 1)
        let wait = value!.wait
        let commands = wait.highestPriority
        let async = value!.async(performIn: DispatchQueue(label: "target")).lowestPriority
        #expect(commands.set { $0 += 1 } == .success(2))
        value = nil
        #expect(commands.get() == .success(2))
        #expect(wait.lowestPriority.set(newValue: 3) == .success(3))
        #expect(commands.set { $0 += 1 } == .success(4))
        #expect(
            commands.set {
                $0 += 1; $1()
            } == .success(5)
        )
        #expect(commands.map { $0 * 10 } == .success(50))
        var told: [Result<Int, QueueSafeValueError>] = []
        commands.get { told.append($0) }
        commands.get { result, done in
            told.append(result)
            done()
        }
        #expect(told == [.success(5), .success(5)])
        let answers = Log<Result<Int, QueueSafeValueError>>()
        try inTime {
            let group = DispatchGroup()
            let tell: @Sendable (Result<Int, QueueSafeValueError>) -> Void = { result in
                answers.add(result)
                group.leave()
            }
            for _ in 0..<6 { group.enter() }
            async.get(completion: tell)
            async.get { result, done in
                tell(result)
                done()
            }
            async.set(newValue: 6, completion: tell)
            async.set(accessClosure: { $0 += 1 }, completion: tell)
            async.set(
                manualCompletion: {
                    $0 += 1; $1()
                },
                completion: tell
            )
            async.get(manualCompletion: { _, done in done() }, completion: tell)
            group.wait()
        }
        #expect(answers.entries == [5, 5, 6, 7, 8, 8].map { .success($0) })
    }

    @Test("The schedules of the synced and the asynced container keep the value as well")
    func otherContainers() throws {
        var synced: QueueSafeSyncedValue<Int>? = QueueSafeSyncedValue(value: 1)
        let wait = synced!.lowestPriority
        synced = nil
        #expect(wait.set { $0 += 1 } == .success(2))
        let answer = try inTime {
            var asynced: QueueSafeAsyncedValue<Int>? = QueueSafeAsyncedValue(value: 1, queue: DispatchQueue(label: "a"))
            let async = asynced!.highestPriority
            asynced = nil
            let answer = Log<Result<Int, QueueSafeValueError>>()
            let end = Door()
            async.get { result in
                answer.add(result)
                end.open()
            }
            end.waitUntilOpen()
            return answer.entries
        }
        #expect(answer == [.success(1)])
    }

    @Test("A local whose last use is the command succeeds, however much is inlined")
    func lastUse() throws {
        #expect(LastUse.get() == .success(1))
        #expect(LastUse.set() == .success(2))
        #expect(LastUse.setInClosure() == .success(2))
        #expect(LastUse.setManually() == .success(2))
        #expect(LastUse.map() == .success("1"))
        #expect(LastUse.object() == .success(1))
        #expect(LastUse.generic(1) == .success(1))
        #expect(LastUse.synced() == .success(1))
        #expect(LastUse.optional() == .success(1))
        #expect(LastUse.inLoop() == 1_000)
        let answers = try inTime {
            let answers = Log<Result<Int, QueueSafeValueError>>()
            let group = DispatchGroup()
            for _ in 0..<100 {
                group.enter()
                LastUse.async { result in
                    answers.add(result)
                    group.leave()
                }
            }
            group.wait()
            return answers.entries
        }
        #expect(answers == Array(repeating: .success(2), count: 100))
    }
}

/// Functions of which each has a value in a local variable, and uses it last for a command.
private enum LastUse {
    static func get() -> Result<Int, QueueSafeValueError> {
        let value = QueueSafeValue(value: 1)
        return value.wait.highestPriority.get()
    }

    static func set() -> Result<Int, QueueSafeValueError> {
        let value = QueueSafeValue(value: 1)
        return value.wait.lowestPriority.set(newValue: 2)
    }

    static func setInClosure() -> Result<Int, QueueSafeValueError> {
        let value = QueueSafeValue(value: 1)
        return value.wait.lowestPriority.set { $0 += 1 }
    }

    static func setManually() -> Result<Int, QueueSafeValueError> {
        let value = QueueSafeValue(value: 1)
        return value.wait.lowestPriority.set { number, done in
            number += 1
            done()
        }
    }

    static func map() -> Result<String, QueueSafeValueError> {
        let value = QueueSafeValue(value: 1)
        return value.wait.lowestPriority.map { "\($0)" }
    }

    static func object() -> Result<Int, QueueSafeValueError> {
        let tally = Counted.Tally()
        let value = QueueSafeValue(value: Counted(1, tally: tally))
        return value.wait.lowestPriority.map { $0.id }
    }

    static func generic<Value>(_ start: Value) -> Result<Value, QueueSafeValueError> {
        let value = QueueSafeValue(value: start)
        return value.wait.lowestPriority.get()
    }

    static func synced() -> Result<Int, QueueSafeValueError> {
        let value = QueueSafeSyncedValue(value: 1)
        return value.highestPriority.get()
    }

    static func optional() -> Result<Int, QueueSafeValueError>? {
        let value: QueueSafeValue? = QueueSafeValue(value: 1)
        return value?.wait.lowestPriority.get()
    }

    static func inLoop() -> Int {
        var sum = 0
        for _ in 0..<1_000 {
            let value = QueueSafeValue(value: 1)
            if case .success(let number) = value.wait.highestPriority.get() { sum += number }
        }
        return sum
    }

    static func async(_ tell: @escaping @Sendable (Result<Int, QueueSafeValueError>) -> Void) {
        let value = QueueSafeValue(value: 1)
        value.async(performIn: .utility).lowestPriority.set(accessClosure: { $0 += 1 }, completion: tell)
    }
}
