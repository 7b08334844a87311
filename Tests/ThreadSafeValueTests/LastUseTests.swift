//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

/// Each test uses a value for the last time in the call of a command: after it has found the value, the compiler may let go
/// of all that kept it. So a command that does not keep the value itself fails, most often with optimization only.
@Suite("A command keeps its value, wherever the value came from")
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
        #expect(QueueSafeSyncedValue(value: 1).lowestPriority.set { $0 += 1 } == .success(2))
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
        #expect(Owner(2).increment() == .success(3))
        #expect([Owner(1), Owner(2)][1].value.wait.lowestPriority.set { $0 += 1 } == .success(3))
    }
}

/// Where a value may be at its last use. Each has the number 2 in it.
enum LastPlace: CaseIterable, Sendable {
    case element
    case first
    case dictionary
    case member
    case temporary

    // As users write it, each command in a function of its own, so that nothing keeps the place any longer.

    fileprivate func get() -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return values[2].wait.lowestPriority.get()
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return values.first!.wait.lowestPriority.get()
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return values["x"]!.wait.lowestPriority.get()
        case .member:
            let owner = Owner(2)
            return owner.value.wait.lowestPriority.get()
        case .temporary:
            return QueueSafeValue(value: 2).wait.lowestPriority.get()
        }
    }

    fileprivate func getInClosure() -> Answer {
        var answer = Answer.failure(.cancelled)
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            values[2].wait.highestPriority.get { answer = $0 }
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            values.first!.wait.highestPriority.get { answer = $0 }
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            values["x"]!.wait.highestPriority.get { answer = $0 }
        case .member:
            let owner = Owner(2)
            owner.value.wait.highestPriority.get { answer = $0 }
        case .temporary:
            QueueSafeValue(value: 2).wait.highestPriority.get { answer = $0 }
        }
        return answer
    }

    fileprivate func getManually() -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return values[2].wait.highestPriority.get { _, done in done() }
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return values.first!.wait.highestPriority.get { _, done in done() }
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return values["x"]!.wait.highestPriority.get { _, done in done() }
        case .member:
            let owner = Owner(2)
            return owner.value.wait.highestPriority.get { _, done in done() }
        case .temporary:
            return QueueSafeValue(value: 2).wait.highestPriority.get { _, done in done() }
        }
    }

    fileprivate func set() -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return values[2].wait.highestPriority.set(newValue: 3)
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return values.first!.wait.highestPriority.set(newValue: 3)
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return values["x"]!.wait.highestPriority.set(newValue: 3)
        case .member:
            let owner = Owner(2)
            return owner.value.wait.highestPriority.set(newValue: 3)
        case .temporary:
            return QueueSafeValue(value: 2).wait.highestPriority.set(newValue: 3)
        }
    }

    fileprivate func setInClosure() -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return values[2].wait.lowestPriority.set { $0 += 1 }
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return values.first!.wait.lowestPriority.set { $0 += 1 }
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return values["x"]!.wait.lowestPriority.set { $0 += 1 }
        case .member:
            let owner = Owner(2)
            return owner.value.wait.lowestPriority.set { $0 += 1 }
        case .temporary:
            return QueueSafeValue(value: 2).wait.lowestPriority.set { $0 += 1 }
        }
    }

    fileprivate func setManually() -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return values[2].wait.lowestPriority.set { number, done in
                number += 1
                done()
            }
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return values.first!.wait.lowestPriority.set { number, done in
                number += 1
                done()
            }
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return values["x"]!.wait.lowestPriority.set { number, done in
                number += 1
                done()
            }
        case .member:
            let owner = Owner(2)
            return owner.value.wait.lowestPriority.set { number, done in
                number += 1
                done()
            }
        case .temporary:
            return QueueSafeValue(value: 2).wait.lowestPriority.set { number, done in
                number += 1
                done()
            }
        }
    }

    fileprivate func map() -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return values[2].wait.mediumPriority.map { $0 * 10 }
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return values.first!.wait.mediumPriority.map { $0 * 10 }
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return values["x"]!.wait.mediumPriority.map { $0 * 10 }
        case .member:
            let owner = Owner(2)
            return owner.value.wait.mediumPriority.map { $0 * 10 }
        case .temporary:
            return QueueSafeValue(value: 2).wait.mediumPriority.map { $0 * 10 }
        }
    }

    fileprivate func timedGet() -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return values[2].wait(timeout: .seconds(10)).lowestPriority.get()
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return values.first!.wait(timeout: .seconds(10)).lowestPriority.get()
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return values["x"]!.wait(timeout: .seconds(10)).lowestPriority.get()
        case .member:
            let owner = Owner(2)
            return owner.value.wait(timeout: .seconds(10)).lowestPriority.get()
        case .temporary:
            return QueueSafeValue(value: 2).wait(timeout: .seconds(10)).lowestPriority.get()
        }
    }

    fileprivate func timedSet() -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return values[2].wait(timeout: .seconds(0)).lowestPriority.set { $0 += 1 }
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return values.first!.wait(timeout: .seconds(0)).lowestPriority.set { $0 += 1 }
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return values["x"]!.wait(timeout: .seconds(0)).lowestPriority.set { $0 += 1 }
        case .member:
            let owner = Owner(2)
            return owner.value.wait(timeout: .seconds(0)).lowestPriority.set { $0 += 1 }
        case .temporary:
            return QueueSafeValue(value: 2).wait(timeout: .seconds(0)).lowestPriority.set { $0 += 1 }
        }
    }

    fileprivate func timedSetManually() -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return values[2].wait(timeout: .seconds(10)).lowestPriority.set { number, done in
                number += 1
                done()
            }
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return values.first!.wait(timeout: .seconds(10)).lowestPriority.set { number, done in
                number += 1
                done()
            }
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return values["x"]!.wait(timeout: .seconds(10)).lowestPriority.set { number, done in
                number += 1
                done()
            }
        case .member:
            let owner = Owner(2)
            return owner.value.wait(timeout: .seconds(10)).lowestPriority.set { number, done in
                number += 1
                done()
            }
        case .temporary:
            return QueueSafeValue(value: 2).wait(timeout: .seconds(10)).lowestPriority.set { number, done in
                number += 1
                done()
            }
        }
    }

    fileprivate func timedMap() -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return values[2].wait(timeout: .never).highestPriority.map { $0 * 10 }
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return values.first!.wait(timeout: .never).highestPriority.map { $0 * 10 }
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return values["x"]!.wait(timeout: .never).highestPriority.map { $0 * 10 }
        case .member:
            let owner = Owner(2)
            return owner.value.wait(timeout: .never).highestPriority.map { $0 * 10 }
        case .temporary:
            return QueueSafeValue(value: 2).wait(timeout: .never).highestPriority.map { $0 * 10 }
        }
    }

    fileprivate func asyncGet(_ tell: @escaping @Sendable (Answer) -> Void) {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            values[2].async(performIn: .utility).lowestPriority.get(completion: tell)
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            values.first!.async(performIn: .utility).lowestPriority.get(completion: tell)
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            values["x"]!.async(performIn: .utility).lowestPriority.get(completion: tell)
        case .member:
            let owner = Owner(2)
            owner.value.async(performIn: .utility).lowestPriority.get(completion: tell)
        case .temporary:
            QueueSafeValue(value: 2).async(performIn: .utility).lowestPriority.get(completion: tell)
        }
    }

    fileprivate func asyncSet(_ tell: @escaping @Sendable (Answer) -> Void) {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            values[2].async(performIn: .utility).lowestPriority.set(newValue: 3, completion: tell)
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            values.first!.async(performIn: .utility).lowestPriority.set(newValue: 3, completion: tell)
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            values["x"]!.async(performIn: .utility).lowestPriority.set(newValue: 3, completion: tell)
        case .member:
            let owner = Owner(2)
            owner.value.async(performIn: .utility).lowestPriority.set(newValue: 3, completion: tell)
        case .temporary:
            QueueSafeValue(value: 2).async(performIn: .utility).lowestPriority.set(newValue: 3, completion: tell)
        }
    }

    fileprivate func asyncSetInClosure(_ tell: @escaping @Sendable (Answer) -> Void) {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            values[2].async(performIn: .utility).highestPriority.set(
                accessClosure: { $0 += 1 },
                completion: tell
            )
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            values.first!.async(performIn: .utility).highestPriority.set(
                accessClosure: { $0 += 1 },
                completion: tell
            )
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            values["x"]!.async(performIn: .utility).highestPriority.set(
                accessClosure: { $0 += 1 },
                completion: tell
            )
        case .member:
            let owner = Owner(2)
            owner.value.async(performIn: .utility).highestPriority.set(
                accessClosure: { $0 += 1 },
                completion: tell
            )
        case .temporary:
            QueueSafeValue(value: 2).async(performIn: .utility).highestPriority.set(
                accessClosure: { $0 += 1 },
                completion: tell
            )
        }
    }

    fileprivate func asyncSetManually(_ tell: @escaping @Sendable (Answer) -> Void) {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            values[2].async(performIn: .utility).lowestPriority.set {
                $0 += 1; $1()
            } completion: {
                tell($0)
            }
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            values.first!.async(performIn: .utility).lowestPriority.set {
                $0 += 1; $1()
            } completion: {
                tell($0)
            }
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            values["x"]!.async(performIn: .utility).lowestPriority.set {
                $0 += 1; $1()
            } completion: {
                tell($0)
            }
        case .member:
            let owner = Owner(2)
            owner.value.async(performIn: .utility).lowestPriority.set {
                $0 += 1; $1()
            } completion: {
                tell($0)
            }
        case .temporary:
            QueueSafeValue(value: 2).async(performIn: .utility).lowestPriority.set {
                $0 += 1; $1()
            } completion: {
                tell($0)
            }
        }
    }

    fileprivate func awaitedGet() async -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return await values[2].async.lowestPriority.get()
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return await values.first!.async.lowestPriority.get()
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return await values["x"]!.async.lowestPriority.get()
        case .member:
            let owner = Owner(2)
            return await owner.value.async.lowestPriority.get()
        case .temporary:
            return await QueueSafeValue(value: 2).async.lowestPriority.get()
        }
    }

    fileprivate func awaitedSet() async -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return await values[2].async.highestPriority.set(newValue: 3)
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return await values.first!.async.highestPriority.set(newValue: 3)
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return await values["x"]!.async.highestPriority.set(newValue: 3)
        case .member:
            let owner = Owner(2)
            return await owner.value.async.highestPriority.set(newValue: 3)
        case .temporary:
            return await QueueSafeValue(value: 2).async.highestPriority.set(newValue: 3)
        }
    }

    fileprivate func awaitedSetInClosure() async -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return await values[2].async.lowestPriority.set { $0 += 1 }
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return await values.first!.async.lowestPriority.set { $0 += 1 }
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return await values["x"]!.async.lowestPriority.set { $0 += 1 }
        case .member:
            let owner = Owner(2)
            return await owner.value.async.lowestPriority.set { $0 += 1 }
        case .temporary:
            return await QueueSafeValue(value: 2).async.lowestPriority.set { $0 += 1 }
        }
    }

    fileprivate func awaitedSetManually() async -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return await values[2].async.lowestPriority.set { number in
                await Task.yield()
                number += 1
            }
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return await values.first!.async.lowestPriority.set { number in
                await Task.yield()
                number += 1
            }
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return await values["x"]!.async.lowestPriority.set { number in
                await Task.yield()
                number += 1
            }
        case .member:
            let owner = Owner(2)
            return await owner.value.async.lowestPriority.set { number in
                await Task.yield()
                number += 1
            }
        case .temporary:
            return await QueueSafeValue(value: 2).async.lowestPriority.set { number in
                await Task.yield()
                number += 1
            }
        }
    }

    fileprivate func awaitedMap() async -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return await values[2].async.lowestPriority.map { $0 * 10 }
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return await values.first!.async.lowestPriority.map { $0 * 10 }
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return await values["x"]!.async.lowestPriority.map { $0 * 10 }
        case .member:
            let owner = Owner(2)
            return await owner.value.async.lowestPriority.map { $0 * 10 }
        case .temporary:
            return await QueueSafeValue(value: 2).async.lowestPriority.map { $0 * 10 }
        }
    }
}

private final class Owner: Sendable {
    let value: QueueSafeValue<Int>

    init(_ number: Int) {
        value = QueueSafeValue(value: number)
    }

    func increment() -> Result<Int, QueueSafeValueError> {
        value.wait.lowestPriority.set { $0 += 1 }
    }
}
