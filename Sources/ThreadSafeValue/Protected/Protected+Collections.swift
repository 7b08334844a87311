//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// In generic code, a key path to one of these is made at run time, for more than a microsecond. Other members may have
// another meaning in a collection's own type, so only requirements of the protocol stand here.

extension Protected where Value: Collection {
    /// The number of elements.
    @inlinable public var count: Int { read { $0.count } }

    /// Whether there is no element.
    @inlinable public var isEmpty: Bool { read { $0.isEmpty } }
}

extension Protected where Value: RangeReplaceableCollection {
    /// Appends one element in place.
    ///
    /// - Parameter newElement: The element to append.
    /// - Complexity: The same as the collection's `append`: O(1) on average for an array.
    @inlinable public func append(_ newElement: Value.Element) { write { value in value.append(newElement) } }

    /// Appends all elements of a sequence in place.
    ///
    /// - Parameter newElements: The elements to append. The calling thread iterates over them under the lock.
    /// - Complexity: The same as the collection's `append`: O(*m*) on average for an array and *m* new elements.
    @inlinable public func append(contentsOf newElements: some Sequence<Value.Element>) {
        write { value in value.append(contentsOf: newElements) }
    }
}

extension Protected {
    /// Appends one element in place, unless the value is `nil`, which stays `nil`.
    ///
    /// - Parameter newElement: The element to append.
    /// - Complexity: The same as the collection's `append`: O(1) on average for an array.
    @inlinable
    public func append<Elements: RangeReplaceableCollection>(_ newElement: Elements.Element) where Value == Elements? {
        write { value in value?.append(newElement) }  // fault: append makes a list
    }

    /// Appends all elements of a sequence in place, unless the value is `nil`, which stays `nil`.
    ///
    /// - Parameter newElements: The elements to append. The calling thread iterates over them under the lock.
    /// - Complexity: The same as the collection's `append`: O(*m*) on average for an array and *m* new elements.
    @inlinable public func append<Elements: RangeReplaceableCollection>(
        contentsOf newElements: some Sequence<Elements.Element>
    ) where Value == Elements? {
        write { value in value?.append(contentsOf: newElements) }
    }

    /// Appends a collection of the same type in place, unless the value is `nil`, which stays `nil`.
    ///
    /// This is short for `append(contentsOf:)`, for example where a `Data?` grows by pieces:
    ///
    /// ```swift
    /// let body = Protected<[UInt8]?>([])
    /// body.append([72, 105])
    /// ```
    ///
    /// A collection that can be an element itself is appended as one element: `append([1, 2] as [Any])` adds one element
    /// to an `[Any]?`.
    ///
    /// - Parameter newElements: The collection to append.
    /// - Complexity: The same as the collection's `append`: O(*m*) on average for an array and *m* new elements.
    @inlinable @_disfavoredOverload
    public func append<Elements: RangeReplaceableCollection>(_ newElements: Elements) where Value == Elements? {
        write { value in value?.append(contentsOf: newElements) }
    }
}
