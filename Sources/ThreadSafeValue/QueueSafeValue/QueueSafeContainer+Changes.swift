//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension QueueSafeContainer where Value: Sendable {
    /// The value after every change from now on, and before that, if you ask for it, the value as it is.
    ///
    /// Any number of loops may listen. While none does, commands cost nothing more.
    ///
    /// Each command that may change the value gives one element, when it is complete: also one whose closure threw, or
    /// whose `done` was dropped. `get` and `map` give none.
    ///
    /// ```swift
    /// for await report in reports.changes(buffering: .unbounded) {
    ///     log(report)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - startsWithCurrentValue: Whether the first element is the value as it is now, or as the command that has the
    ///     turn now leaves it. No change comes between it and the next element.
    ///   - buffering: How many values to keep for a loop that is busy.
    /// - Returns: A sequence that listens already. It does not keep the value, and ends with it.
    public func changes(
        startingWithCurrentValue startsWithCurrentValue: Bool = false,
        buffering: ValueChanges<Value>.Buffering = .latest
    ) -> ValueChanges<Value> {
        let storage = queue.storage
        guard startsWithCurrentValue else { return ValueChanges(of: storage.listeners, buffering: buffering) }
        let (listeners, reference) = (storage.listeners, WeakReference(storage: storage))
        return ValueChanges(of: listeners, buffering: buffering) { listener in
            guard let storage = reference.storage else { return listeners.remove(listener) }
            listeners.add(listener, toBegin: true)
            storage.turns.tellBeginner()
        }
    }
}

/// What a sequence of changes keeps instead of the value.
///
/// `@unchecked Sendable`: the reference is written once.
private struct WeakReference<Value: Sendable>: @unchecked Sendable {
    weak let storage: CommandQueueStorage<Value>?
}
