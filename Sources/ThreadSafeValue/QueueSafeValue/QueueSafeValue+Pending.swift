//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension QueueSafeValue {
    /// How many commands wait for their turn, be it as threads or for target queues.
    ///
    /// A snapshot: it may have changed when it is read.
    ///
    /// - Complexity: O(1).
    public var pendingCommandCount: Int {
        queue.storage.withWaiters { $0.count }
    }

    /// How many commands of one priority wait for their turn.
    ///
    /// - Parameter priority: which commands to count.
    /// - Returns: a snapshot, as ``pendingCommandCount``.
    /// - Complexity: O(number of target queues that have commands).
    public func pendingCommandCount(_ priority: CommandPriority) -> Int {
        queue.storage.withWaiters { $0.count(of: priority) }
    }
}
