//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected where Value: Sendable {
    /// Returns a sequence of the value after every change from now on.
    ///
    /// ```swift
    /// let changes = download.progress.changes()
    /// Task {  // captures the sequence, and not `download`
    ///     for await progress in changes {
    ///         show(progress)
    ///         if progress == 100 { break }
    ///     }
    /// }
    /// ```
    ///
    /// The loop ends with a `break`, when its task is cancelled, or when the value goes away. If the task keeps the
    /// value, or the owner of the value, then the value never goes away while the loop runs.
    ///
    /// Any number of loops may listen. While none listens, a change of the value costs nothing extra.
    ///
    /// - Parameters:
    ///   - startsWithCurrentValue: Whether the first element is the value at the moment when a loop begins. The sequence
    ///     keeps the value alive until then. No change is missed between this element and the next.
    ///   - buffering: How many values are kept for a loop that is busy.
    /// - Returns: A sequence that already listens. If it starts with the current value, it listens from its first element
    ///   on.
    public func changes(
        startingWithCurrentValue startsWithCurrentValue: Bool = false,
        buffering: ValueChanges<Value>.Buffering = .latest
    ) -> ValueChanges<Value> {
        unsafe schedulingPoint("changes of", storage, storage.lockPlace, waits: false)
        let (broadcaster, reference) = (storage.table.broadcaster, WeakStorage(storage: storage))
        let start: ValueChanges<Value>.Start = { listener in
            guard let storage = reference.storage else { return broadcaster.remove(listener) }
            storage.lock()
            unsafe broadcaster.add(listener, startingWith: storage.value.pointee)
            storage.unlock()
        }
        let used = startsWithCurrentValue ? start : nil
        return ValueChanges(of: broadcaster, buffering: buffering, start: used, storage: storage)
    }
}
