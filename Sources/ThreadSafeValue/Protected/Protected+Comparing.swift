//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected: Equatable where Value: Equatable {
    /// Compares two values as they are at one and the same moment.
    ///
    /// The values are compared outside the locks, on the calling thread. Both locks are held while they are copied, so
    /// don't nest accesses to them elsewhere, as with ``withLocked(_:_:body:)``.
    ///
    /// - Parameters:
    ///   - lhs: A protected value.
    ///   - rhs: The same or another one.
    /// - Returns: Whether the values are equal.
    @inlinable
    public static func == (lhs: Protected, rhs: Protected) -> Bool {
        let (left, right) = lhs.copies(with: rhs)
        return left == right
    }
}

extension Protected: Hashable where Value: Hashable {
    /// Hashes the value as it is now.
    ///
    /// - Parameter hasher: What takes the value in, outside the lock.
    /// - Warning: A value that is in a set, or is a key of a dictionary, must not change.
    @inlinable
    public func hash(into hasher: inout Hasher) {
        wrappedValue.hash(into: &hasher)
    }
}

extension Protected {
    /// Copies of two values, made at one and the same moment.
    ///
    /// The locks are taken in the order of their addresses, so threads that compare the same two values cannot wait for
    /// each other in a circle. A value compared with itself is locked once.
    @inlinable
    func copies(with other: Protected) -> (own: Value, other: Value) {
        if storage === other.storage {  // fault: one value is locked twice
            let value = wrappedValue
            return (value, value)
        }
        ThreadSafeValue.lock(storage, other.storage)
        defer {
            unlock()
            other.unlock()
        }
        return unsafe (place.pointee, other.place.pointee)
    }
}
