//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension WaitCommands {
    /// Waits until the value meets a condition, then changes it, in one step: no other command comes between.
    ///
    /// ```swift
    /// tickets.wait.lowestPriority.set(when: { $0 > 0 }) { $0 -= 1 }
    /// ```
    ///
    /// The command takes its turn and tests the condition. If it is not met, it gives the turn back, waits for the
    /// next change, and stands in line again, behind all of its priority. The time of `wait(timeout:)` is for all of
    /// that.
    ///
    /// - Warning: A circle through a condition is not found. Do not call this inside a command of a value that the code
    ///   which meets the condition needs.
    /// - Parameters:
    ///   - condition: Whether this is the value to wait for; called on the calling thread, with the turn, for the
    ///     value as it is now and after changes.
    ///   - accessClosure: Called at most once on the calling thread, with a value that meets the condition. If it
    ///     throws, what it changed stays.
    /// - Returns: The updated value, or why the command failed.
    @inlinable @discardableResult
    @available(*, noasync, message: "It blocks the thread. Use `await value.async` instead of `value.wait`.")
    public func set(
        when condition: (Value) -> Bool,
        _ accessClosure: (inout Value) throws -> Void
    ) -> Result<Value, QueueSafeValueError> {
        queue.perform(priority, timeout, when: condition) { value in
            try accessClosure(&value)
            return value
        }
    }

    /// Waits until the value meets a condition, then changes it and computes an answer, in one step.
    ///
    /// ```swift
    /// let job = jobs.wait.lowestPriority.update(when: { !$0.isEmpty }) { $0.removeFirst() }
    /// ```
    ///
    /// It waits as ``set(when:_:)`` does.
    ///
    /// - Parameters:
    ///   - condition: Whether this is the value to wait for; called on the calling thread, with the turn.
    ///   - accessClosure: Called at most once on the calling thread, with a value that meets the condition. If it
    ///     throws, what it changed stays.
    /// - Returns: What the closure returned, or why the command failed.
    @inlinable @discardableResult
    @available(*, noasync, message: "It blocks the thread. Use `await value.async` instead of `value.wait`.")
    public func update<Answer>(
        when condition: (Value) -> Bool,
        _ accessClosure: (inout Value) throws -> Answer
    ) -> Result<Answer, QueueSafeValueError> {
        queue.perform(priority, timeout, when: condition, accessClosure)
    }
}
