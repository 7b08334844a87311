//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The commands of a lane, by priority and arrival, and those that its block runs now.
///
/// A plain struct without a lock.
struct LaneCommands {
    // One for each priority.
    private var lists = Array(repeating: LinkedFIFO<PendingCommand>(), count: Int(CommandPriority.highest.level) + 1)
    private var occupied: UInt64 = 0

    /// How many commands were cancelled since those that are cancelled were last taken out.
    private var cancelledCount = 0

    /// What the block runs next. It belongs to the block while that has the turn; while it tells somebody, to whatever
    /// has the turn and the lock. Others only look at it, under the lock.
    private(set) var batch: [PendingCommand] = []

    /// Which command of the batch is next. It belongs to the block, too.
    private var next = 0
}

extension LaneCommands {
    /// Whether nothing is left, also in the batch of a block that is over.
    var isEmpty: Bool { next == batch.count && lists.allSatisfy { $0.count == 0 } }

    /// Adds a command behind all others of its priority.
    mutating func append(_ command: PendingCommand) {
        lists[Int(command.priority.level)].append(command)
        occupied |= 1 << command.priority.level
    }

    /// The command that is next, of those that are not in the batch. Cancelled ones before it go.
    mutating func dropCancelledAndGetFirst() -> PendingCommand? {
        while occupied != 0 {
            let level = UInt64.bitWidth - 1 - occupied.leadingZeroBitCount
            if let first = lists[level].first, first.state == .waiting { return first }
            if lists[level].removeFirst() == nil { occupied &= ~(1 << UInt64(level)) }
        }
        return nil
    }

    /// Takes out the commands that are not in the batch, and puts those back that are to be kept.
    private mutating func filter(_ isKept: (PendingCommand) -> Bool) {
        for level in lists.indices {
            var kept = LinkedFIFO<PendingCommand>()
            while let command = lists[level].removeFirst() {
                if isKept(command) { kept.append(command) }
            }
            lists[level] = kept
        }
    }

    /// One of its commands was cancelled. It leaves when it is the first, or with many others: O(1) on average.
    mutating func noteCancelled() {
        cancelledCount += 1
        let count = lists.reduce(0) { $0 + $1.count }
        if cancelledCount <= 32 + count / 2 { return }
        cancelledCount = 0
        filter { $0.state == .waiting }
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
        filter { !end($0) }
        return ended
    }

    /// How many wait, of one priority.
    mutating func count(_ priority: CommandPriority) -> Int {
        var count = 0
        func look(_ command: PendingCommand) -> Bool {
            if command.priority == priority, command.state == .waiting { count += 1 }
            return true
        }
        for command in batch { _ = look(command) }
        filter(look)
        return count
    }

    /// The block takes the next commands, all of one priority. With the turn.
    mutating func takeBatch() {
        guard let priority = dropCancelledAndGetFirst()?.priority else { return }
        while batch.count < HandoffPolicy.batch, let command = lists[Int(priority.level)].removeFirst() {
            batch.append(command)
        }
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
