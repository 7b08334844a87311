//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected where Value: Sendable {
    /// The value after every change from now on, for a `for await` loop that needs only the latest one.
    ///
    /// Any number of loops may listen. While none does, changing the value costs nothing more.
    public var changes: ValueChanges<Value> {
        changes(buffering: .latest)
    }

    /// The value after every change from now on.
    ///
    /// ```swift
    /// for await state in connection.changes(buffering: .unbounded) {
    ///     log(state)
    /// }
    /// ```
    ///
    /// - Parameter buffering: How many values to keep for a loop that is busy.
    /// - Returns: A sequence that listens already.
    public func changes(buffering: ValueChanges<Value>.Buffering) -> ValueChanges<Value> {
        ValueChanges(of: storage.table.broadcaster, buffering: buffering)
    }
}
