//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The commands of a lane, by priority and arrival, and those that its block runs now.
///
/// A plain struct without a lock.
struct LaneCommands {
    // One for each priority.
    private var lists = [CommandFIFO](repeating: CommandFIFO(), count: Int(CommandPriority.highest.level) + 1)
    private var occupied: UInt64 = 0

    /// How many commands were cancelled since those that are cancelled were last taken out.
    private var cancelledCount = 0

    /// What the block runs next. It belongs to the block while that has the turn; while it tells somebody, to whatever
    /// has the turn and the lock. Others only look at it, under the lock.
    private(set) var batch: [PendingCommand] = []

    /// Which command of the batch is next.
    private var next = 0
}

extension LaneCommands {
    var isEmpty: Bool { occupied == 0 && next == batch.count }

    /// Adds a command behind all others of its priority.
    mutating func append(_ command: PendingCommand) {
        let level = Int(command.priority.level)
        lists[level].append(command)
        occupied |= 1 << command.priority.level
    }

    /// The command that is next, of those that are not in the batch. Cancelled ones before it go.
    mutating func dropCancelledAndGetFirst() -> PendingCommand? {
        while occupied != 0 {
            let level = topLevel
            let first = lists[level].first!
            if first.state == .waiting { return first }
            _ = lists[level].removeFirst()
            emptied(level)
        }
        return nil
    }

    /// One of its commands was cancelled. It leaves when it is the first, or with many others: O(1) on average.
    mutating func noteCancelled() {
        cancelledCount += 1
        let count = lists.reduce(0) { $0 + $1.count }
        if cancelledCount <= 32 + count / 2 { return }
        cancelledCount = 0
        for level in lists.indices {
            var kept = CommandFIFO()
            while let command = lists[level].removeFirst() {
                if command.state == .waiting { kept.append(command) }
            }
            lists[level] = kept
            emptied(level)
        }
    }

    /// Cancels all that wait, of one priority or of all.
    ///
    /// - Returns: Those which it is this call that has ended.
    mutating func endAll(_ priority: CommandPriority?, as state: PendingCommand.State) -> [PendingCommand] {
        var ended: [PendingCommand] = []
        func end(_ command: PendingCommand) -> Bool {
            if let priority, command.priority != priority { return false }
            if command.move(.waiting, to: state) { ended.append(command) }
            return true
        }
        for command in batch { _ = end(command) }
        for level in lists.indices {
            var kept = CommandFIFO()
            while let command = lists[level].removeFirst() {
                if !end(command) { kept.append(command) }
            }
            lists[level] = kept
            emptied(level)
        }
        return ended
    }

    private var topLevel: Int { UInt64.bitWidth - 1 - occupied.leadingZeroBitCount }

    private mutating func emptied(_ level: Int) {
        if lists[level].first == nil { occupied &= ~(1 << UInt64(level)) }
    }

    /// The block takes the next commands, all of one priority. With the turn.
    mutating func takeBatch() {
        guard let priority = dropCancelledAndGetFirst()?.priority else { return }
        let level = Int(priority.level)
        while batch.count < HandoffPolicy.batch, let command = lists[level].removeFirst() { batch.append(command) }
        emptied(level)
    }

    /// The block is about to begin the next command of its batch. With the turn.
    mutating func claimNext() -> PendingCommand? {
        while next < batch.count {
            next += 1
            if batch[next - 1].move(.waiting, to: .running) { return batch[next - 1] }
        }
        return nil
    }

    /// The block does not begin it after all.
    mutating func unclaim(_ command: PendingCommand) {
        _ = command.move(.running, to: .waiting)
        next -= 1
    }

    /// The block gives back what it has not begun. Under the lock, with the turn or while the block tells somebody.
    ///
    /// - Returns: Whether there is something.
    @discardableResult
    mutating func putBatchBack() -> Bool {
        let hasMore = batch.count > next
        while batch.count > next {
            let command = batch.removeLast()
            lists[Int(command.priority.level)].prepend(command)
            occupied |= 1 << command.priority.level
        }
        batch.removeAll(keepingCapacity: true)
        next = 0
        return hasMore
    }
}
