//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension QueueSafeContainer {
    /// How many commands wait for their turn, be it as threads, in tasks or for target queues.
    ///
    /// - Parameter priority: Which commands to count; `nil` for all.
    /// - Returns: A snapshot: it may have changed when it is read.
    /// - Complexity: O(1) for all, O(number of commands that wait) for one priority.
    public func pendingCommandCount(_ priority: CommandPriority? = nil) -> Int {
        queue.withTurns { turns in turns.withLine { turns.pendingCount($0, priority) } }
    }

    /// Cancels the commands that wait for their turn, be it as threads, in tasks or for target queues.
    ///
    /// Their closures are never called, and they answer ``QueueSafeValueError/cancelled``: those for target queues
    /// there, as with ``CommandHandle/cancel()``. A command that has begun completes, as does one that its
    /// queue is about to begin: if the value is suspended, after `resume()`. A command that waits for a condition is
    /// cancelled only while it stands in line to test it. The line is locked meanwhile.
    ///
    /// - Parameter priority: Which commands to cancel; `nil` for all.
    /// - Returns: How many commands this has cancelled.
    /// - Complexity: O(number of commands and of target queues that have some).
    @discardableResult
    public func cancelAllPendingCommands(_ priority: CommandPriority? = nil) -> Int {
        unsafe schedulingPoint("cancelling for", queue.storage, queue.word.storage, waits: false)
        return queue.withTurns { $0.cancelAll(priority) }
    }
}
