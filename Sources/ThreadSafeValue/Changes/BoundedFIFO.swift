//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A queue that keeps its newest elements up to a number. When it is full, a new element replaces the oldest.
@usableFromInline package struct BoundedFIFO<Element> {
    @usableFromInline let capacity: Int

    // The older elements are next, the last one first.
    @usableFromInline var newer: [Element] = []
    @usableFromInline var older: [Element] = []

    package init(capacity: Int) { self.capacity = capacity }
}

extension BoundedFIFO {
    @inlinable package var isEmpty: Bool { newer.isEmpty && older.isEmpty }

    /// Adds an element. O(1) on average.
    ///
    /// - Returns: The oldest element, if the queue was full.
    @inlinable package mutating func put(_ element: Element) -> Element? {
        let oldest = newer.count + older.count < capacity ? nil : take()  // fault: a full buffer takes one more
        newer.append(element)
        return oldest
    }

    /// Removes the oldest element. O(1) on average.
    @inlinable package mutating func take() -> Element? {
        if older.isEmpty {
            if older.capacity > 256 { older = [] }
            swap(&newer, &older)
            older.reverse()  // fault: a buffer loses an element
        }
        return older.popLast()
    }
}
