//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

/// Each test uses a value for the last time in the call of a command: after it has found the value, the compiler may
/// let go of all that kept it. So a command that does not keep the value itself fails, most often with optimization
/// only.
@Suite("Lifetime: a command keeps its value, wherever the value came from")
struct LastUseTests {
    @Test("Waiting commands succeed at the last use of the place where the value was", arguments: LastPlace.allCases)
    func wait(place: LastPlace) {
        #expect(place.get() == .success(2))
        #expect(place.getInClosure() == .success(2))
        #expect(place.getManually() == .success(2))
        #expect(place.set() == .success(3))
        #expect(place.setInClosure() == .success(3))
        #expect(place.setManually() == .success(3))
        #expect(place.map() == .success(20))
    }

    @Test("Timed waiting commands succeed there", arguments: LastPlace.allCases)
    func timedWait(place: LastPlace) {
        #expect(place.timedGet() == .success(2))
        #expect(place.timedSet() == .success(3))
        #expect(place.timedSetManually() == .success(3))
        #expect(place.timedMap() == .success(20))
    }

    @Test("Asynchronous commands are accepted there, and run", arguments: LastPlace.allCases)
    func async(place: LastPlace) throws {
        let answers = try inTime {
            let answers = Log<Answer>()
            let group = DispatchGroup()
            for submit in [place.asyncGet, place.asyncSet, place.asyncSetInClosure, place.asyncSetManually] {
                group.enter()
                submit { answer in
                    answers.add(answer)
                    group.leave()
                }
                group.wait()
            }
            return answers.entries
        }
        #expect(answers == [.success(2), .success(3), .success(3), .success(3)])
    }

    @Test("Awaited commands succeed there", arguments: LastPlace.allCases)
    func awaited(place: LastPlace) async {
        #expect(await place.awaitedGet() == .success(2))
        #expect(await place.awaitedSet() == .success(3))
        #expect(await place.awaitedSetInClosure() == .success(3))
        #expect(await place.awaitedSetManually() == .success(3))
        #expect(await place.awaitedMap() == .success(20))
    }

    @Test("A `for` loop over values that are made for it loses none of its commands")
    func loop() {
        var failures = 0
        for value in (0..<100).map({ QueueSafeValue(value: $0) }) {
            let answer = value.wait.lowestPriority.set { $0 += 1 }
            if case .failure = answer { failures += 1 }
        }
        let sum = (0..<100).map { QueueSafeValue(value: $0) }.reduce(0) { sum, value in
            guard case .success(let number) = value.wait.highestPriority.get() else { return -1_000_000 }
            return sum + number
        }
        #expect(failures == 0)
        #expect(sum == 4_950)
    }

    @Test("Values with one schedule only succeed there as well")
    func otherContainers() throws {
        let changed = QueueSafeSyncedValue(value: 1).lowestPriority.set { $0 += 1 }
        #expect(changed == .success(2))
        #expect((0..<3).map { QueueSafeSyncedValue(value: $0) }[2].highestPriority.get() == .success(2))
        let answers = try inTime {
            let answers = Log<Answer>()
            let group = DispatchGroup()
            let queue = DispatchQueue(label: "target")
            group.enter()
            QueueSafeAsyncedValue(value: 1, queue: queue).lowestPriority.set {
                $0 += 1
            } completion: { answer in
                answers.add(answer)
                group.leave()
            }
            group.wait()
            group.enter()
            (0..<3).map { QueueSafeAsyncedValue(value: $0, queue: queue) }[2].highestPriority.get { answer in
                answers.add(answer)
                group.leave()
            }
            group.wait()
            return answers.entries
        }
        #expect(answers == [.success(2), .success(2)])
    }

    @Test("The last command of an owner's method succeeds when the caller lets the owner go in it")
    func member() {
        #expect(LastPlace.Owner(2).increment() == .success(3))
        #expect([LastPlace.Owner(1), LastPlace.Owner(2)][1].value.wait.lowestPriority.set { $0 += 1 } == .success(3))
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
