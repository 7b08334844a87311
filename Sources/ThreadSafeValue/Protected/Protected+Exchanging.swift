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
        lock()
        let old = unsafe place.move()
        unsafe place.initialize(to: newValue)
        commit()
        // The old value goes away after that, where its `deinit` may use the new one, also if nobody uses it.
        _fixLifetime(old)
        return old
    }

    /// Replaces the value, where an assignment to the wrapped property would not fit.
    ///
    /// - Parameter newValue: What to protect from now on. The old value goes away without the lock.
    @inlinable
    public func write(_ newValue: consuming Value) {
        _ = exchange(newValue)
    }
}
