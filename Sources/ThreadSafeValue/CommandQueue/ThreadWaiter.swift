//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The command with which each thread waits. A thread stands in one line at a time, so it has one for its life, and to
/// wait allocates nothing.
enum ThreadWaiter {
    private static let waiters = ThreadLocal<PendingCommand>(keeps: true)

    private static let blocks = ThreadLocal<Lane>()

    /// The lane whose block the calling thread runs, which keeps it. Not in the command: most threads that run blocks
    /// never wait.
    static var block: Lane? {
        get { blocks.object }
        set { blocks.object = newValue }
    }

    /// The command of the calling thread, if that has ever waited.
    static var known: PendingCommand? { waiters.object }

    /// The command of the calling thread.
    static var current: PendingCommand {
        if let known { return known }
        // All that a wait needs is made now.
        _ = WaitGraph.shared
        let waiter = PendingCommand(of: Parker())
        waiters.object = waiter
        return waiter
    }
}
