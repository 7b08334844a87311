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
    ///   - startsWithCurrentValue: Whether the first element is the value as it is when a loop begins. The loop waits
    ///     for its turn then, as `async.highestPriority.get()` does: it keeps the value so long, and ends if that would
    ///     fail. No change comes between this element and the next.
    ///   - buffering: How many values to keep for a loop that is busy.
    /// - Returns: A sequence that listens already, or from its first element on if that is the current value. It does
    ///   not keep the value, and ends with it.
    public func changes(
        startingWithCurrentValue startsWithCurrentValue: Bool = false,
        buffering: ValueChanges<Value>.Buffering = .latest
    ) -> ValueChanges<Value> {
        unsafe schedulingPoint("changes of", queue.storage, queue.word.storage, waits: false)
        let (listeners, reference) = (queue.storage.listeners, WeakStorage(storage: queue.storage))
        let start: ValueChanges<Value>.Start = { listener in
            guard let storage = reference.storage else { return listeners.remove(listener) }
            let begun = await CommandQueue<Value>(of: storage).performAwaited(.highest, .max, isChange: false) {
                listeners.add(listener, startingWith: $0)
            }
            if case .failure = begun { listeners.remove(listener) }
        }
        let used = startsWithCurrentValue ? start : nil
        return ValueChanges(of: listeners, buffering: buffering, start: used, storage: queue.storage)
    }
}
