//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A queue that keeps its newest elements, up to a number, in a ring of memory that grows as needed.
@safe
@usableFromInline
package struct RingBuffer<Element>: ~Copyable {
    /// The most elements it keeps. A new one pushes the oldest out.
    @usableFromInline
    let capacity: Int

    // The elements are those at `head`, `head + 1`, …, `head + count - 1`, where the slot behind the last is the
    // first. The number of slots is a power of two.
    @usableFromInline
    var slots: UnsafeMutablePointer<Element>
    @usableFromInline
    var slotCount: Int
    @usableFromInline
    var head = 0
    @usableFromInline
    var count = 0

    @inlinable
    package init(capacity: Int) {
        self.capacity = capacity
        slotCount = 1
        unsafe slots = .allocate(capacity: 1)
    }

    @inlinable
    deinit {
        for offset in 0..<count { unsafe (slots + (head + offset) & (slotCount - 1)).deinitialize(count: 1) }
        unsafe slots.deallocate()
    }
}

extension RingBuffer {
    /// More slots than these are given back when the buffer is empty.
    @inlinable
    static var keptSlots: Int { 256 }

    @inlinable
    package var isEmpty: Bool { count == 0 }

    /// Adds an element.
    ///
    /// - Returns: The element that had to go for it.
    /// - Complexity: O(1) on average: the memory doubles when it is full.
    @inlinable
    package mutating func put(_ element: Element) -> Element? {
        let oldest = count < capacity ? nil : take()
        if count == slotCount { move(toSlots: slotCount * 2) }
        unsafe slot(count).initialize(to: element)
        count += 1
        return oldest
    }

    /// Removes the oldest element.
    @inlinable
    package mutating func take() -> Element? {
        guard count > 0 else { return nil }
        let oldest = unsafe slot(0).move()
        head = (head + 1) & (slotCount - 1)
        count -= 1
        if count == 0, slotCount > Self.keptSlots { move(toSlots: 1) }
        return oldest
    }

    @inlinable
    func slot(_ offset: Int) -> UnsafeMutablePointer<Element> {
        unsafe slots + (head + offset) & (slotCount - 1)
    }

    @usableFromInline
    mutating func move(toSlots newCount: Int) {
        let new = UnsafeMutablePointer<Element>.allocate(capacity: newCount)
        let straight = min(count, slotCount - head)
        unsafe new.moveInitialize(from: slots + head, count: straight)
        unsafe (new + straight).moveInitialize(from: slots, count: count - straight)
        unsafe slots.deallocate()
        unsafe slots = new
        slotCount = newCount
        head = 0
    }
}
