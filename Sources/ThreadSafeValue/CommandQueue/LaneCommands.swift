//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The commands of a lane that wait, by priority and arrival, but for those that its block has taken.
///
/// A plain struct without a lock.
struct LaneCommands {
    // One for each priority.
    private var lists = Array(repeating: LinkedFIFO<PendingCommand>(), count: Int(CommandPriority.highest.rawValue) + 1)

    /// How many commands were cancelled since those that are cancelled were last taken out.
    private var cancelledCount = 0

    /// The priority of a command has changed.
    private var isUnsorted = false
}

extension LaneCommands {
    var isEmpty: Bool { lists.allSatisfy { $0.count == 0 } }

    /// Adds a command behind all others of its priority.
    mutating func append(_ command: PendingCommand) { lists[Int(command.priority.rawValue)].append(command) }

    /// The priority of one of the commands has changed.
    mutating func notePriorityChanged(of command: PendingCommand, from old: CommandPriority, hasBatch: Bool) {
        // Commands that change in the order of their arrivals need no sorting, unless a batch is missing here.
        let (old, new) = (Int(old.rawValue), Int(command.priority.rawValue))
        let last = unsafe lists[new].last?._withUnsafeGuaranteedRef { $0.members.arrival } ?? 0
        guard !hasBatch, !isUnsorted, lists[old].first === command, last < command.members.arrival else {
            isUnsorted = true
            return
        }
        if let first = lists[old].removeFirst() { append(first) }
    }

    private mutating func sort() {
        var commands: [PendingCommand] = []
        for level in lists.indices { while let first = lists[level].removeFirst() { commands.append(first) } }
        for command in commands.sorted(by: { $0.members.arrival < $1.members.arrival }) { append(command) }
        isUnsorted = false
    }

    /// The command that is next. Cancelled ones before it go.
    mutating func dropCancelledAndGetFirst() -> PendingCommand? {
        if isUnsorted { sort() }
        for level in lists.indices.reversed() {
            while let first = lists[level].first {
                if first.state == .waiting { return first }
                _ = lists[level].removeFirst()
            }
        }
        return nil
    }

    /// One of its commands was cancelled. The command leaves when it is the first, or with many others: O(1) on average.
    mutating func noteCancelled() {
        cancelledCount += 1
        if cancelledCount <= 32 + lists.reduce(0, { $0 + $1.count }) / 2 { return }
        cancelledCount = 0
        dropCancelled()
    }

    /// All commands, cancelled ones too.
    var all: [PendingCommand] { lists.flatMap(\.elements) }

    /// Takes out all that wait no more.
    mutating func dropCancelled() {
        for level in lists.indices {
            for _ in 0..<lists[level].count {
                if let first = lists[level].removeFirst(), first.state == .waiting { lists[level].append(first) }
            }
        }
    }

    /// Takes all commands of the most urgent priority: O(1).
    mutating func takeBatch() -> LinkedFIFO<PendingCommand> {
        if isUnsorted { sort() }
        guard let level = lists.lastIndex(where: { $0.count > 0 }) else { return LinkedFIFO() }
        defer { lists[level] = LinkedFIFO() }
        return lists[level]
    }

    /// Puts the rest of a batch back, before all others of its priority: O(1).
    mutating func putBack(_ batch: LinkedFIFO<PendingCommand>) {
        guard let first = batch.first else { return }
        let level = Int(first.priority.rawValue)
        var list = batch
        list.append(contentsOf: lists[level])
        lists[level] = list
    }
}
