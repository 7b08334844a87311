//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import ThreadSafeValue

// As users write it, each command in a function of its own, so that nothing keeps the place any longer.

extension LastPlace {
    func asyncGet(_ tell: @escaping @Sendable (Answer) -> Void) {
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

    func asyncSet(_ tell: @escaping @Sendable (Answer) -> Void) {
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

    func asyncSetInClosure(_ tell: @escaping @Sendable (Answer) -> Void) {
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

    func asyncSetManually(_ tell: @escaping @Sendable (Answer) -> Void) {
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

    func awaitedGet() async -> Answer {
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

    func awaitedSet() async -> Answer {
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

    func awaitedSetInClosure() async -> Answer {
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

    func awaitedSetManually() async -> Answer {
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

    func awaitedMap() async -> Answer {
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
