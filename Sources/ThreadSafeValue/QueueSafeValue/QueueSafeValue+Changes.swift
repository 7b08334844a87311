//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension QueueSafeValue where Value: Sendable {
    /// The value after every change from now on, for a `for await` loop that needs only the latest one.
    ///
    /// Any number of loops may listen. While none does, commands cost nothing more.
    public var changes: ValueChanges<Value> {
        changes(buffering: .latest)
    }

    /// The value after every change from now on.
    ///
    /// Each command that may change the value gives one element, when it is complete: also one whose closure threw, or whose
    /// `done` was dropped. `get` and `map` give none.
    ///
    /// ```swift
    /// for await report in reports.changes(buffering: .unbounded) {
    ///     log(report)
    /// }
    /// ```
    ///
    /// - Parameter buffering: How many values to keep for a loop that is busy.
    /// - Returns: A sequence that listens already. It does not keep the value, and ends with it.
    public func changes(buffering: ValueChanges<Value>.Buffering) -> ValueChanges<Value> {
        ValueChanges(of: queue.listeners, buffering: buffering)
    }
}
