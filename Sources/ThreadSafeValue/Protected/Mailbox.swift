//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The values that one listener has not fetched yet, oldest first.
package struct Mailbox<Value> {
    /// The most values it keeps. A new one pushes the oldest out.
    let capacity: Int

    // Two stacks make a queue: `arrived` has its newest last, `ready` its oldest last, and all that arrived is turned over
    // once `ready` is empty. So that this takes no time to speak of, many values go through two such stacks as packs.
    private var arrived = [Value]()
    private var ready = [Value]()
    private var arrivedPacks = [[Value]]()
    private var readyPacks = [[Value]]()
    private var count = 0

    package init(capacity: Int) {
        self.capacity = capacity
    }
}

extension Mailbox {
    private static var packSize: Int { 256 }

    package var isEmpty: Bool { count == 0 }

    /// Adds a value.
    ///
    /// - Returns: the value that had to go for it.
    package mutating func put(_ value: Value) -> Value? {
        let oldest = count < capacity ? nil : take()
        if arrived.count == Self.packSize {
            arrivedPacks.append(arrived)
            arrived = []
        }
        arrived.append(value)
        count += 1
        return oldest
    }

    /// Removes the oldest value.
    ///
    /// - Complexity: O(1) on average; at most as long as it takes to move 256 values and one in 256 of the others.
    package mutating func take() -> Value? {
        guard count > 0 else { return nil }
        count -= 1
        if ready.isEmpty {
            if readyPacks.isEmpty { turnOver(&arrivedPacks, to: &readyPacks) }
            if var pack = readyPacks.popLast() {
                turnOver(&pack, to: &ready)
            } else {
                turnOver(&arrived, to: &ready)
            }
        }
        return ready.popLast()
    }

    /// Makes an empty stack of a full one, and the other way round, with the order reversed.
    private func turnOver<Element>(_ full: inout [Element], to empty: inout [Element]) {
        swap(&full, &empty)
        empty.reverse()
    }
}
