//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension QueueSafeValue {
    /// How many commands wait for their turn, be it as threads or for target queues.
    ///
    /// A snapshot: it may have changed when it is read. Commands that were handed to their target queue, to run next, are
    /// not counted any more.
    ///
    /// - Complexity: O(number of target queues that have commands).
    public var pendingCommandCount: Int {
        queue.storage.line.read { line in line.count }
    }

    /// How many commands of one priority wait for their turn.
    ///
    /// - Parameter priority: which commands to count.
    /// - Returns: a snapshot, as ``pendingCommandCount``.
    /// - Complexity: O(number of target queues that have commands).
    public func pendingCommandCount(_ priority: CommandPriority) -> Int {
        queue.storage.line.read { line in line.count(of: priority) }
    }
}
