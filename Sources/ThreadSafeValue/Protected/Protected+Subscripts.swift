//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// These subscripts use no key path. A key path that is made at run time costs a microsecond, and some arguments allow none.

extension Protected {
    /// The value for a key, or a default: you read a copy, replace it, or change it in place under the lock.
    ///
    /// ```swift
    /// let counts = Protected<[String: Int]>([:])
    /// counts["word", default: 0] += 1
    /// ```
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - defaultValue: The value for a key that is not there. It is always evaluated, before the lock is taken.
    @inlinable
    public subscript<Key, Element>(key: Key, default defaultValue: Element) -> Element where Value == [Key: Element] {
        get { read { $0[key, default: defaultValue] } }
        nonmutating set {
            // The old value is released after the lock.
            _ = write { $0.updateValue(newValue, forKey: key) }
        }
        nonmutating _modify { yield &wrappedValue[key, default: defaultValue] }
    }

    /// The value for a key: you read a copy, replace or remove it, or change it in place under the lock.
    ///
    /// - Parameter key: The key. If it is not there, the value is `nil`.
    @inlinable public subscript<Key, Element>(key: Key) -> Element? where Value == [Key: Element] {
        get { read { $0[key] } }
        nonmutating set {
            // The old value is released after the lock.
            _ = write { table in
                if let newValue { table.updateValue(newValue, forKey: key) } else { table.removeValue(forKey: key) }
            }
        }
        nonmutating _modify { yield &wrappedValue[key] }
    }
}

extension Protected where Value: Collection {
    /// A copy of a part of the value, such as `list[1...]`.
    ///
    /// - Parameter range: The range of the part. The program crashes if the value has no such part.
    @inlinable public subscript(range: some RangeExpression<Value.Index>) -> Value.SubSequence { read { $0[range] } }
}

extension Protected where Value: MutableCollection {
    /// An element of the value, such as `list[0]`: you read a copy, replace it, or change it in place under the lock.
    ///
    /// - Parameter index: The index of the element. The program crashes if there is no such element.
    @inlinable public subscript(index: Value.Index) -> Value.Element {
        get { read { $0[index] } }
        nonmutating set {
            // The old element is released after the lock.
            _ = write { Swift.exchange(&$0[index], with: newValue) }
        }
        nonmutating _modify { yield &wrappedValue[index] }
    }

    /// A part of the value, such as `list[1...]`: you read a copy, replace it, or change it under the lock.
    ///
    /// - Parameter range: The range of the part. The program crashes if the value has no such part.
    @inlinable public subscript(range: some RangeExpression<Value.Index>) -> Value.SubSequence {
        get { read { $0[range] } }
        nonmutating set {
            // The old elements are released after the lock, where a release can run code. A slice of them would share the
            // buffer, and the next line would copy the buffer.
            _ = write { value in
                let old = _isPOD(Value.Element.self) ? [] : Array(value[range])
                value[range] = newValue
                return old
            }
        }
        nonmutating _modify { yield &wrappedValue[range] }
    }
}
