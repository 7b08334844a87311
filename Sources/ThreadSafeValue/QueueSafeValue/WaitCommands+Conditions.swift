//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension WaitCommands {
    /// Waits until the value meets a condition, and changes the value in the same turn.
    ///
    /// ```swift
    /// tickets.wait.lowestPriority.set(when: { $0 > 0 }) { $0 -= 1 }
    /// ```
    ///
    /// The command takes its turn and tests the condition. If the value does not meet it, the command gives the turn back,
    /// and waits for the next change. Then it stands in line again, behind all commands of its priority. The time-out of
    /// `wait(timeout:)` covers all of these waits.
    ///
    /// - Warning: The library does not find a circle through a condition. Some code makes the condition true. Don't wait
    ///   inside a command of a value that this code needs.
    /// - Parameters:
    ///   - condition: The condition. The calling thread calls it with the turn, for the current value and after changes.
    ///   - accessClosure: Called at most once on the calling thread, in the same turn, with a value that meets the
    ///     condition. If it throws, its changes stay.
    /// - Returns: The updated value, or the reason why the command failed.
    @inlinable @discardableResult
    @available(*, noasync, message: "It blocks the thread. Use `await value.async` instead of `value.wait`.")
    public func set(
        when condition: (Value) -> Bool,
        _ accessClosure: (inout Value) throws -> Void
    ) -> Result<Value, QueueSafeValueError> {
        queue.perform(priority, timeout, when: condition) { try changed(&$0, by: accessClosure) }
    }

    /// Waits until the value meets a condition, then changes the value and computes an answer in the same turn.
    ///
    /// ```swift
    /// let job = jobs.wait.lowestPriority.update(when: { !$0.isEmpty }) { $0.removeFirst() }
    /// ```
    ///
    /// The command waits as ``set(when:_:)`` does.
    ///
    /// - Parameters:
    ///   - condition: The condition. The calling thread calls it with the turn.
    ///   - accessClosure: Called at most once on the calling thread, in the same turn, with a value that meets the
    ///     condition. If it throws, its changes stay.
    /// - Returns: The result of the closure, or the reason why the command failed.
    @inlinable @discardableResult
    @available(*, noasync, message: "It blocks the thread. Use `await value.async` instead of `value.wait`.")
    public func update<Answer>(
        when condition: (Value) -> Bool,
        _ accessClosure: (inout Value) throws -> Answer
    ) -> Result<Answer, QueueSafeValueError> {
        queue.perform(priority, timeout, when: condition, accessClosure)
    }
}
