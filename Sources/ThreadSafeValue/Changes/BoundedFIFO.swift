//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A queue that keeps its newest elements up to a number. When it is full, a new element replaces the oldest.
@usableFromInline
package struct BoundedFIFO<Element> {
    @usableFromInline
    let capacity: Int

    // The elements before `head` were taken out.
    @usableFromInline
    var elements: [Element?] = []
    @usableFromInline
    var head = 0

    package init(capacity: Int) {
        self.capacity = capacity
    }
}

extension BoundedFIFO {
    @inlinable
    package var isEmpty: Bool { head == elements.count }

    /// Adds an element. O(1) on average.
    ///
    /// - Returns: The oldest element, if the queue was full.
    @inlinable
    package mutating func put(_ element: Element) -> Element? {
        let oldest = elements.count - head < capacity ? nil : take()  // fault: a full buffer takes one more
        elements.append(element)
        return oldest
    }

    /// Removes the oldest element. O(1) on average.
    @inlinable
    package mutating func take() -> Element? {
        if isEmpty { return nil }
        let oldest = elements[head].take()
        head += 1
        if isEmpty || 2 * head > elements.count + 16 {
            elements.removeSubrange(..<head)  // fault: a buffer loses an element
            head = 0
            if elements.isEmpty, elements.capacity > 256 { elements = [] }
        }
        return oldest
    }
}
