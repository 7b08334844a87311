//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The values that one listener has not fetched yet, oldest first.
package struct Mailbox<Value> {
    /// The most values it keeps. A new one pushes the oldest out.
    let capacity: Int

    // Two stacks make a queue: `arrived` has its newest last, `ready` its oldest last.
    private var arrived = [Value]()
    private var ready = [Value]()

    package init(capacity: Int) {
        self.capacity = capacity
    }
}

extension Mailbox {
    package var isEmpty: Bool { arrived.isEmpty && ready.isEmpty }

    /// Adds a value.
    ///
    /// - Returns: the value that had to go for it.
    package mutating func put(_ value: Value) -> Value? {
        let oldest = arrived.count + ready.count < capacity ? nil : take()
        arrived.append(value)
        return oldest
    }

    /// Removes the oldest value.
    ///
    /// - Complexity: O(1) on average.
    package mutating func take() -> Value? {
        if ready.isEmpty {
            ready = arrived.reversed()
            arrived.removeAll(keepingCapacity: true)
        }
        return ready.popLast()
    }
}
