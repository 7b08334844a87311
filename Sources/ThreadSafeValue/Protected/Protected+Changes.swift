//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected where Value: Sendable {
    /// The value after every change from now on.
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
    /// The loop ends with a `break`, when its task is cancelled, and when the value goes away. In a task that keeps the
    /// value, or its owner, the last never happens.
    ///
    /// Any number of loops may listen. While none does, changing the value costs nothing more.
    ///
    /// - Parameters:
    ///   - startsWithCurrentValue: Whether the first element is the value as it is when a loop begins, for which the
    ///     sequence keeps the value. No change comes between it and the next.
    ///   - buffering: How many values to keep for a loop that is busy.
    /// - Returns: A sequence that listens already, or from its first element on if that is the current value.
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
