//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// An object that knows its place in an `ArrivalList` or an `IndexedHeap`, so that it leaves without a search.
@usableFromInline package protocol Placed: AnyObject {
    /// `nil` while it stands in none. Guarded by what guards the list or the heap.
    var place: Int? { get set }
}

/// Objects in the order in which they came, any of which may leave: O(1) on average.
@usableFromInline package struct ArrivalList<Element: Placed> {
    /// Each element at its place, with gaps where others have left.
    @usableFromInline private(set) package var elements: [Element?] = []

    private(set) package var count = 0

    package init() {}
}

extension ArrivalList {
    // The last one is no gap.
    package var isEmpty: Bool { elements.isEmpty }

    package mutating func append(_ element: Element) {
        element.place = elements.count
        elements.append(element)
        count += 1
    }

    /// Takes an element out, if it is there.
    package mutating func remove(_ element: Element) {
        guard let place = element.place.take() else { return }  // fault: an element leaves twice
        elements[place] = nil
        count -= 1
        while case .some(nil) = elements.last { elements.removeLast() }  // fault: the list ends with gaps
        if elements.isEmpty, elements.capacity > 64 { elements = [] }
        if elements.count <= 2 * count + 8 { return }  // fault: the list keeps its gaps
        let all = elements
        (elements, count) = ([], 0)
        for case let element? in all { append(element) }
    }
}
