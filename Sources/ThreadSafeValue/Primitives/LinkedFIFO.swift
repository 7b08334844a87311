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
@safe
struct LinkedFIFO<Element: Linked> {
    private var head: Unmanaged<Element>?
    private var last: Unmanaged<Element>?

    private(set) var count = 0
}

extension LinkedFIFO {
    var first: Element? { unsafe head?.takeUnretainedValue() }

    /// All, from the first to the last.
    var elements: [Element] { first.map { Array(sequence(first: $0) { unsafe $0.next?.takeUnretainedValue() }) } ?? [] }

    mutating func append(_ element: Element) {
        let link = unsafe Unmanaged.passRetained(element)
        if let last = unsafe last {
            unsafe last._withUnsafeGuaranteedRef { unsafe $0.next = link }
        } else {
            unsafe head = link
        }
        unsafe last = link
        count += 1
    }

    /// Puts an element back before all others.
    mutating func prepend(_ element: Element) {
        let link = unsafe Unmanaged.passRetained(element)
        unsafe element.next = head
        if count == 0 { unsafe last = link }
        unsafe head = link
        count += 1
    }

    mutating func removeFirst() -> Element? {
        guard let link = unsafe head else { return nil }
        let element = unsafe link.takeRetainedValue()
        unsafe head = element.next
        unsafe element.next = nil
        count -= 1
        if count == 0 { unsafe last = nil }
        return element
    }
}
