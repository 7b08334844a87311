//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Subscripts without a key path: one that is made at run time costs a microsecond, and some arguments allow none.

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

extension Protected {
    /// The value of a key: read as a copy, replaced or removed at once, or changed in place under the lock.
    ///
    /// - Parameter key: Which value; `nil` stands for one that is not there.
    @inlinable
    public subscript<Key, Element>(key: Key) -> Element? where Value == [Key: Element] {
        get {
            read { $0[key] }
        }
        nonmutating set {
            // The old value goes away after the lock was given back.
            _ = write { table in
                if let newValue { table.updateValue(newValue, forKey: key) } else { table.removeValue(forKey: key) }
            }
        }
        nonmutating _modify {
            lock()
            defer { commit() }
            yield unsafe &place.pointee[key]
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
    /// An element of the value, such as `list[0]`: read as a copy, replaced at once, or changed in place under the lock.
    ///
    /// - Parameter index: Which element; the program crashes if there is none.
    @inlinable
    public subscript(index: Value.Index) -> Value.Element {
        get {
            read { $0[index] }
        }
        nonmutating set {
            var element = newValue
            write { swap(&$0[index], &element) }
            // The old element goes away here, where its `deinit` may use the value.
            withExtendedLifetime(element) {}
        }
        nonmutating _modify {
            lock()
            defer { commit() }
            yield unsafe &place.pointee[index]
        }
    }

    /// A part of the value, such as `list[1...]`: read as a copy, replaced at once, or changed under the lock.
    ///
    /// - Parameter range: Which part; the program crashes if it is not there.
    @inlinable
    public subscript(range: some RangeExpression<Value.Index>) -> Value.SubSequence {
        get {
            read { $0[range] }
        }
        nonmutating set {
            // The old elements go away after the lock was given back. As a slice they would share the buffer, which
            // the next line would copy.
            _ = write { value in
                let old = Array(value[range])
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
