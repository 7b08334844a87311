//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// An element of an `IndexedHeap`.
package protocol Ordered: Placed {
    /// Whether this comes out before another one.
    func precedes(_ other: Self) -> Bool
}

/// Objects of which the first comes out first, and any of which may leave: each in O(log n).
package struct IndexedHeap<Element: Ordered> {
    /// All elements. The first is first, the others are in no order.
    package private(set) var elements: [Element] = []

    package init() {}
}

extension IndexedHeap {
    /// Adds an element.
    package mutating func insert(_ element: Element) {
        elements.append(element)
        moveUp(element, from: elements.count - 1)
    }

    /// Takes an element out, if it is there.
    package mutating func remove(_ element: Element) {
        guard let place = element.place.take() else { return }  // fault: the heap keeps a place
        let last = elements.removeLast()
        if last === element { return }
        moveDown(last, from: place)
        moveUp(last, from: last.place!)  // fault: the heap moves nothing up
    }

    private mutating func moveUp(_ element: Element, from start: Int) {
        var place = start
        while place > 0, element.precedes(elements[(place - 1) / 2]) {
            put(elements[(place - 1) / 2], at: place)
            place = (place - 1) / 2
        }
        put(element, at: place)
    }

    private mutating func moveDown(_ element: Element, from start: Int) {
        var place = start
        while true {
            let left = 2 * place + 1
            if left >= elements.count { break }
            let right = min(left + 1, elements.count - 1)
            let child = elements[right].precedes(elements[left]) ? right : left  // fault: the heap looks left only
            if element.precedes(elements[child]) { break }
            put(elements[child], at: place)
            place = child
        }
        put(element, at: place)
    }

    private mutating func put(_ element: Element, at place: Int) {
        elements[place] = element
        element.place = place
    }
}
