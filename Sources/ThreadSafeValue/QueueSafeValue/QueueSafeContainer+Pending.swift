//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension QueueSafeContainer {
    /// Returns how many commands wait for their turn: on threads, in tasks and for target queues.
    ///
    /// - Parameter priority: The priority of the commands to count; `nil` for all.
    /// - Returns: The number at the moment of the call.
    /// - Complexity: O(1) for all priorities; O(number of commands that wait) for one priority.
    public func pendingCommandCount(_ priority: CommandPriority? = nil) -> Int {
        queue.withTurns { turns in turns.withLine { $0.pendingCount(priority) } }
    }

    /// Cancels the commands that wait for their turn: on threads, in tasks and for target queues.
    ///
    /// The closures of these commands are never called, and the commands answer ``QueueSafeValueError/cancelled``. A
    /// command for a target queue answers on that queue, as with ``CommandHandle/cancel()``. A command that has begun
    /// completes. A command that waits for a condition is cancelled only while it stands in line to test the condition.
    /// Other threads wait while this method looks through the line.
    ///
    /// - Parameter priority: The priority of the commands to cancel; `nil` for all.
    /// - Returns: How many commands this call has cancelled.
    /// - Complexity: O(number of commands, and of target queues with commands).
    @discardableResult public func cancelAllPendingCommands(_ priority: CommandPriority? = nil) -> Int {
        unsafe schedulingPoint("cancelling for", queue.storage, queue.word.storage, waits: false)
        return queue.withTurns { $0.cancelAll(priority) }
    }
}
