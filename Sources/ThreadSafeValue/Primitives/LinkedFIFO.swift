//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// An element of a `LinkedFIFO`.
protocol Linked: AnyObject {
    /// The element behind it.
    var next: Unmanaged<Self>? { get set }
}

/// Objects in the order in which they came, linked through themselves, so that it allocates nothing.
///
/// It keeps the elements alive, and must be empty when it goes away.
@safe struct LinkedFIFO<Element: Linked> {
    private(set) var head: Unmanaged<Element>?
    private(set) var last: Unmanaged<Element>?

    private(set) var count = 0
}

extension LinkedFIFO {
    var first: Element? { unsafe head?.takeUnretainedValue() }

    /// All, from the first to the last.
    var elements: [Element] { first.map { Array(sequence(first: $0) { unsafe $0.next?.takeUnretainedValue() }) } ?? [] }

    mutating func append(_ element: Element) {
        let link = unsafe Unmanaged.passRetained(element)
        unsafe append(contentsOf: LinkedFIFO(head: link, last: link, count: 1))
    }

    /// Puts all elements of another list behind these: O(1).
    mutating func append(contentsOf other: LinkedFIFO) {
        if other.count == 0 { return }
        if let last = unsafe last {
            unsafe last._withUnsafeGuaranteedRef { unsafe $0.next = other.head }
        } else {
            unsafe head = other.head
        }
        unsafe last = other.last
        count += other.count
    }

    /// Takes out the elements as far as `last`, which is one of them: O(1).
    mutating func removeFirst(_ count: Int, to last: Unmanaged<Element>) -> LinkedFIFO {
        let removed = unsafe LinkedFIFO(head: head, last: last, count: count)
        unsafe head = last._withUnsafeGuaranteedRef { element in unsafe element.next.take() }
        self.count -= count
        if self.count == 0 { unsafe self.last = nil }
        return removed
    }

    mutating func removeFirst() -> Element? {
        guard let link = unsafe head else { return nil }
        _ = unsafe removeFirst(1, to: link)
        return unsafe link.takeRetainedValue()
    }
}
