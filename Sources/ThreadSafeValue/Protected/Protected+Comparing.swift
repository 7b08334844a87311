//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected: Equatable where Value: Equatable {
    /// Compares two values as they are at the same moment.
    ///
    /// The calling thread copies both values while it holds both locks, and compares the copies without the locks. So
    /// don't nest accesses to these values elsewhere, as with ``withLocked(_:_:body:)``.
    ///
    /// - Parameters:
    ///   - lhs: A protected value.
    ///   - rhs: The same protected value, or another one.
    /// - Returns: Whether the values are equal.
    @inlinable public static func == (lhs: Protected, rhs: Protected) -> Bool {
        if lhs.storage === rhs.storage {  // fault: one value is locked twice
            let value = lhs.wrappedValue
            return value == value
        }
        // In the order of their addresses, so threads that compare the same two never wait for each other in a circle.
        ThreadSafeValue.lock(lhs.storage, rhs.storage)
        let (left, right) = unsafe (lhs.storage.value.pointee, rhs.storage.value.pointee)
        lhs.storage.unlock()
        rhs.storage.unlock()
        return left == right
    }
}

extension Protected: Hashable where Value: Hashable {
    /// Hashes a copy of the value, without the lock.
    ///
    /// - Warning: The value must not change while the handle is in a set, or is a key of a dictionary.
    /// - Parameter hasher: The hasher to use.
    @inlinable public func hash(into hasher: inout Hasher) { wrappedValue.hash(into: &hasher) }
}
