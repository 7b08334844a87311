//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension QueueSafeContainer {
    /// How many commands wait for their turn, be it as threads or for target queues.
    ///
    /// A snapshot: it may have changed when it is read.
    ///
    /// - Complexity: O(1).
    public var pendingCommandCount: Int {
        queue.withTurnQueue { $0.update { waiters, _ in waiters.count } }
    }

    /// How many commands of one priority wait for their turn.
    ///
    /// - Parameter priority: Which commands to count.
    /// - Returns: A snapshot, as ``pendingCommandCount``.
    /// - Complexity: O(number of target queues that have commands, or had some at once, ever; a task that waits for an
    ///   async closure counts as one).
    public func pendingCommandCount(_ priority: CommandPriority) -> Int {
        queue.withTurnQueue { $0.update { waiters, _ in waiters.count(of: priority) } }
    }

    /// Cancels all commands that wait for their turn, be it as threads, in tasks or for target queues.
    ///
    /// Their closures are never called, and they answer ``QueueSafeValueError/cancelled``: those for target queues
    /// there, as with ``CommandHandle/cancel()``. A command that has begun completes. One that waits for a condition
    /// is in line only while it is about to test it; else it stays. Changes that are to start with the current value
    /// stand in line for that again. Nobody else gets to the line meanwhile: 30 ms for 100,000 commands, for which the
    /// whole call takes up to 130 ms, as it lets go of them.
    ///
    /// - Returns: How many commands this has cancelled.
    /// - Complexity: O(*m* + *n* log *m*) to cancel *n* commands, where *m* target queues have some, or had some at once,
    ///   ever; a task that waits for an async closure counts as one.
    @discardableResult
    public func cancelAllPendingCommands() -> Int {
        queue.withTurnQueue { $0.cancelAll(nil) }
    }

    /// Cancels all commands of one priority that wait for their turn.
    ///
    /// - Parameter priority: Which commands to cancel, as ``cancelAllPendingCommands()`` does.
    /// - Returns: How many commands this has cancelled.
    /// - Complexity: O(*m* + *n* log *m*) to cancel *n* commands, where *m* target queues have some, or had some at once,
    ///   ever; a task that waits for an async closure counts as one.
    @discardableResult
    public func cancelAllPendingCommands(_ priority: CommandPriority) -> Int {
        queue.withTurnQueue { $0.cancelAll(priority) }
    }
}
