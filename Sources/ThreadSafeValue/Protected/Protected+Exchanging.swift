//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected {
    /// Replaces the value and returns the old one.
    ///
    /// - Parameter newValue: The value to protect from now on.
    /// - Returns: The old value.
    @inlinable public func exchange(_ newValue: consuming Value) -> Value {
        storage.lock()
        let old = unsafe storage.value.move()
        unsafe storage.value.initialize(to: newValue)
        storage.commit()
        // The old value is released here, even if nobody uses the result. Its `deinit` may use the new value.
        _fixLifetime(old)
        return old
    }

    /// Replaces the value, in code that cannot assign to the wrapped property.
    ///
    /// The old value is released after the lock. If the value is a closure, assign the new one to ``wrappedValue``: a
    /// trailing closure with a parameter would be an access.
    ///
    /// - Parameter newValue: The value to protect from now on.
    @inlinable @_disfavoredOverload public func write(_ newValue: consuming Value) { _ = exchange(newValue) }
}
