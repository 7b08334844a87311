//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected where Value: RangeReplaceableCollection {
    /// Appends one element in place.
    ///
    /// - Parameter newElement: What to append.
    /// - Complexity: As for the collection: O(1) on average for an array.
    @inlinable
    public func append(_ newElement: Value.Element) {
        write { value in value.append(newElement) }
    }

    /// Appends all elements of a sequence in place.
    ///
    /// - Parameter newElements: What to append; it is walked through under the lock, on the calling thread.
    /// - Complexity: As for the collection: O(*m*) on average for an array and *m* new elements.
    @inlinable
    public func append(contentsOf newElements: some Sequence<Value.Element>) {
        write { value in value.append(contentsOf: newElements) }
    }
}

extension Protected {
    /// Appends one element in place if there is a collection; `nil` stays `nil`.
    ///
    /// - Parameter newElement: What to append.
    /// - Complexity: As for the collection: O(1) on average for an array.
    @inlinable
    public func append<Elements: RangeReplaceableCollection>(
        _ newElement: Elements.Element
    ) where Value == Elements? {
        write { value in value?.append(newElement) }  // fault: append makes a list
    }

    /// Appends all elements of a sequence in place if there is a collection; `nil` stays `nil`.
    ///
    /// - Parameter newElements: What to append; it is walked through under the lock, on the calling thread.
    /// - Complexity: As for the collection: O(*m*) on average for an array and *m* new elements.
    @inlinable
    public func append<Elements: RangeReplaceableCollection>(
        contentsOf newElements: some Sequence<Elements.Element>
    ) where Value == Elements? {
        write { value in value?.append(contentsOf: newElements) }
    }

    /// Appends a collection in place if there is one to append to; `nil` stays `nil`.
    ///
    /// Short for `append(contentsOf:)` where both are of one type, as with a `Data?` that grows by pieces:
    ///
    /// ```swift
    /// let body = Protected<[UInt8]?>([])
    /// body.append([72, 105])
    /// ```
    ///
    /// Where a collection is an element itself, it is appended as one: `append([1, 2] as [Any])` to an `[Any]?` adds
    /// one element.
    ///
    /// - Parameter newElements: What to append.
    /// - Complexity: As for the collection: O(*m*) on average for an array and *m* new elements.
    @inlinable @_disfavoredOverload
    public func append<Elements: RangeReplaceableCollection>(
        _ newElements: Elements
    ) where Value == Elements? {
        write { value in value?.append(contentsOf: newElements) }  // fault: append(contentsOf:) makes one
    }
}
