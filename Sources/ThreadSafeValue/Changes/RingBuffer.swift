//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A queue that keeps its newest elements, up to a number, in a ring of memory that grows as needed.
@safe
package struct RingBuffer<Element>: ~Copyable {
    /// The most elements it keeps. A new one pushes the oldest out.
    private let capacity: Int

    // The elements are those at `head`, `head + 1`, …, `head + count - 1`, where the slot behind the last is the first. The
    // number of slots is a power of two.
    private var slots: UnsafeMutablePointer<Element>
    private var slotCount: Int
    private var head = 0
    private var count = 0

    package init(capacity: Int) {
        self.capacity = capacity
        slotCount = 1
        unsafe slots = .allocate(capacity: 1)
    }

    deinit {
        for offset in 0..<count { unsafe (slots + (head + offset) & (slotCount - 1)).deinitialize(count: 1) }
        unsafe slots.deallocate()
    }
}

extension RingBuffer {
    /// More slots than these are given back when the buffer is empty.
    private static var keptSlots: Int { 256 }

    package var isEmpty: Bool { count == 0 }

    /// Adds an element.
    ///
    /// - Returns: the element that had to go for it.
    /// - Complexity: O(1) on average: the memory doubles when it is full.
    package mutating func put(_ element: Element) -> Element? {
        let oldest = count < capacity ? nil : take()
        if count == slotCount { move(toSlots: slotCount * 2) }
        unsafe slot(count).initialize(to: element)
        count += 1
        return oldest
    }

    /// Removes the oldest element.
    package mutating func take() -> Element? {
        guard count > 0 else { return nil }
        let oldest = unsafe slot(0).move()
        head = (head + 1) & (slotCount - 1)
        count -= 1
        if count == 0, slotCount > Self.keptSlots { move(toSlots: 1) }
        return oldest
    }

    private func slot(_ offset: Int) -> UnsafeMutablePointer<Element> {
        unsafe slots + (head + offset) & (slotCount - 1)
    }

    private mutating func move(toSlots newCount: Int) {
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
