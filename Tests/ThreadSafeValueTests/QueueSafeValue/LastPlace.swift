//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import ThreadSafeValue

/// Where a value may be at its last use. Each has the number 2 in it.
enum LastPlace: CaseIterable, Sendable {
    case element
    case first
    case dictionary
    case member
    case temporary

    typealias Answer = Result<Int, QueueSafeValueError>

    /// A value as the member of an object.
    final class Owner: Sendable {
        let value: QueueSafeValue<Int>

        init(_ number: Int) {
            value = QueueSafeValue(value: number)
        }

        func increment() -> Answer {
            value.wait.lowestPriority.set { $0 += 1 }
        }
    }
}

// As users write it, each command in a function of its own, so that nothing keeps the place any longer.

extension LastPlace {
    func get() -> Answer {
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

    func getInClosure() -> Answer {
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

    func getManually() -> Answer {
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

    func set() -> Answer {
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

    func setInClosure() -> Answer {
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

    func setManually() -> Answer {
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

    func map() -> Answer {
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

    func timedGet() -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return values[2].wait(timeout: .seconds(300)).lowestPriority.get()
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return values.first!.wait(timeout: .seconds(300)).lowestPriority.get()
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return values["x"]!.wait(timeout: .seconds(300)).lowestPriority.get()
        case .member:
            let owner = Owner(2)
            return owner.value.wait(timeout: .seconds(300)).lowestPriority.get()
        case .temporary:
            return QueueSafeValue(value: 2).wait(timeout: .seconds(300)).lowestPriority.get()
        }
    }

    func timedSet() -> Answer {
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

    func timedSetManually() -> Answer {
        switch self {
        case .element:
            let values = (0..<4).map { QueueSafeValue(value: $0) }
            return values[2].wait(timeout: .seconds(300)).lowestPriority.set { number, done in
                number += 1
                done()
            }
        case .first:
            let values = (2..<4).map { QueueSafeValue(value: $0) }
            return values.first!.wait(timeout: .seconds(300)).lowestPriority.set { number, done in
                number += 1
                done()
            }
        case .dictionary:
            let values = ["x": QueueSafeValue(value: 2), "y": QueueSafeValue(value: 3)]
            return values["x"]!.wait(timeout: .seconds(300)).lowestPriority.set { number, done in
                number += 1
                done()
            }
        case .member:
            let owner = Owner(2)
            return owner.value.wait(timeout: .seconds(300)).lowestPriority.set { number, done in
                number += 1
                done()
            }
        case .temporary:
            return QueueSafeValue(value: 2).wait(timeout: .seconds(300)).lowestPriority.set { number, done in
                number += 1
                done()
            }
        }
    }

    func timedMap() -> Answer {
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
}
