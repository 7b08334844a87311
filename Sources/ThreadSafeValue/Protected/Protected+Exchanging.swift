//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected {
    /// Replaces the value.
    ///
    /// - Parameter newValue: What to protect from now on.
    /// - Returns: The value before.
    @inlinable
    public func exchange(_ newValue: consuming Value) -> Value {
        // Not copied: `NeverReturningTests` say why.
        var value = newValue
        lock()
        unsafe Swift.swap(&place.pointee, &value)
        commit()
        // The old value goes away after that, where its `deinit` may use the new one, also if nobody uses it.
        withExtendedLifetime(value) {}
        return value
    }

    /// Exchanges two values in one step. With itself it does nothing.
    ///
    /// The locks are taken in one order everywhere, so threads that do this with the same values cannot hang.
    /// Don't nest accesses to them elsewhere, as with ``withLocked(_:_:body:)``.
    ///
    /// - Parameter other: The other value.
    @inlinable
    public func swap(with other: Protected) {
        if storage === other.storage { return }
        withLocked(self, other) { own, other in Swift.swap(&own, &other) }
    }
}
