//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// An element of an `IndexedHeap`.
package protocol Ordered: Placed {
    func precedes(_ other: Self) -> Bool
}

/// Objects of which the first is known: a binary heap. Any of them may leave, or move when its order has changed:
/// O(log count).
///
/// Invariant (heap): no element precedes the one above it, which is at `(place - 1) / 2`.
struct IndexedHeap<Element: Ordered> {
    private(set) var elements: [Element] = []
}

extension IndexedHeap: Sendable where Element: Sendable {}

extension IndexedHeap {
    var first: Element? { elements.first }

    /// Puts an element where it belongs, as it is new or its order has changed.
    mutating func update(_ element: Element) {
        if element.place == nil {
            element.place = elements.count
            elements.append(element)
        }
        moveUp(element, from: element.place!)
        moveDown(element, from: element.place!)
    }

    /// Whether no more than so many elements precede one, which is there, and all of them are as they should be.
    /// O(limit).
    func allBefore(_ element: Element, atMost limit: Int, satisfy isMet: (Element) -> Bool) -> Bool {
        var limit = limit
        return allBefore(element, from: 0, &limit, isMet)
    }

    private func allBefore(_ element: Element, from place: Int, _ limit: inout Int, _ isMet: (Element) -> Bool) -> Bool
    {
        guard place < elements.count, elements[place].precedes(element) else { return true }
        limit -= 1
        return limit >= 0 && isMet(elements[place]) && allBefore(element, from: 2 * place + 1, &limit, isMet)
            && allBefore(element, from: 2 * place + 2, &limit, isMet)
    }

    /// Takes an element out, if it is there.
    mutating func remove(_ element: Element) {
        guard let place = element.place.take() else { return }
        let last = elements.removeLast()
        if elements.isEmpty, elements.capacity > 64 { elements = [] }
        if last === element { return }
        put(last, at: place)
        update(last)
    }

    private mutating func put(_ element: Element, at place: Int) {
        elements[place] = element
        element.place = place
    }

    private mutating func moveUp(_ element: Element, from start: Int) {
        var place = start
        while place > 0, element.precedes(elements[(place - 1) / 2]) {
            put(elements[(place - 1) / 2], at: place)
            place = (place - 1) / 2
        }
        if place != start { put(element, at: place) }
    }

    private mutating func moveDown(_ element: Element, from start: Int) {
        var place = start
        while true {
            var child = 2 * place + 1
            guard child < elements.count else { break }
            if child + 1 < elements.count, elements[child + 1].precedes(elements[child]) { child += 1 }
            guard elements[child].precedes(element) else { break }
            put(elements[child], at: place)
            place = child
        }
        if place != start { put(element, at: place) }
    }
}
