//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Subscripts whose arguments are not `Hashable`, so that no key path leads through them.

extension Protected {
    /// The value of a key, or a default: read as a copy, replaced at once, or changed in place under the lock.
    ///
    /// ```swift
    /// let counts = Protected<[String: Int]>([:])
    /// counts["word", default: 0] += 1
    /// ```
    ///
    /// - Parameters:
    ///   - key: Which value.
    ///   - defaultValue: Stands for a value that is not there. It is always evaluated, before the lock is taken.
    @inlinable
    public subscript<Key, Element>(
        key: Key,
        default defaultValue: Element
    ) -> Element where Value == [Key: Element] {
        get {
            read { $0[key, default: defaultValue] }
        }
        nonmutating set {
            // The old value goes away after the lock was given back.
            _ = write { $0.updateValue(newValue, forKey: key) }
        }
        nonmutating _modify {
            lock()
            defer { commit() }
            yield unsafe &place.pointee[key, default: defaultValue]
        }
    }
}

extension Protected where Value: Collection {
    /// A copy of a part of the value, such as `list[1...]`.
    ///
    /// - Parameter range: Which part; the program crashes if it is not there.
    @inlinable
    public subscript(range: some RangeExpression<Value.Index>) -> Value.SubSequence {
        read { $0[range] }
    }
}

extension Protected where Value: MutableCollection {
    /// A part of the value, such as `list[1...]`: read as a copy, replaced at once, or changed under the lock.
    ///
    /// - Parameter range: Which part; the program crashes if it is not there.
    @inlinable
    public subscript(range: some RangeExpression<Value.Index>) -> Value.SubSequence {
        get {
            read { $0[range] }
        }
        nonmutating set {
            // The old part goes away after the lock was given back.
            _ = write { value in
                let old = value[range]
                value[range] = newValue
                return old
            }
        }
        nonmutating _modify {
            lock()
            defer { commit() }
            yield unsafe &place.pointee[range]
        }
    }
}
