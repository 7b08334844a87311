//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension QueueSafeContainer where Value: Sendable {
    /// Returns a sequence of the value after every change from now on. On request it begins with the current value.
    ///
    /// Any number of loops may listen. While none listens, a command costs nothing extra.
    ///
    /// Each command that may change the value gives one element when it is complete, even if its closure threw or its
    /// `done` was dropped. `get` and `map` give no element.
    ///
    /// ```swift
    /// for await report in reports.changes(buffering: .unbounded) {
    ///     log(report)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - startsWithCurrentValue: Whether the first element is the value at the moment when a loop begins. The loop waits
    ///     for a turn then, as `async.highestPriority.get()` does. It keeps the value alive meanwhile, and ends if such a
    ///     command would fail. No change is missed between this element and the next.
    ///   - buffering: How many values are kept for a loop that is busy.
    /// - Returns: A sequence that already listens. If it starts with the current value, it listens from its first element
    ///   on. The sequence does not keep the value alive, and ends when the value goes away.
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
