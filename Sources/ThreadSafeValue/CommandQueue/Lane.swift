//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The commands for one target queue, and the one block that is dispatched there at a time.
///
/// It stands in line at the place of its first command, also while its block runs one. Guarded by the lock of the line,
/// but for what belongs to its block.
@safe
final class Lane: Waiter, @unchecked Sendable {
    let target: DispatchQueue

    /// What tells the target from other queues.
    let targetIdentity: UInt

    /// The turn that its commands wait for.
    let turns: TurnQueue

    // One for each priority.
    private var commands = [CommandFIFO](repeating: CommandFIFO(), count: Int(CommandPriority.highest.level) + 1)
    private var occupied: UInt64 = 0

    /// How many commands were cancelled since those that are cancelled were last taken out.
    private var cancelledCount = 0

    /// A block is on its way, or runs.
    var hasBlock = false

    /// The number of the block that was dispatched last. Others have been replaced.
    private(set) var block = 0

    /// How many words of the block there were when the timer looked.
    var tellsAtLook: UInt64 = 0

    /// What the block runs next. It belongs to the block while that has the turn; while it tells somebody, to whatever
    /// has the turn and the lock. Others only look at it, under the lock.
    private(set) var batch: [PendingCommand] = []

    /// Which command of the batch is next.
    private var next = 0

    private let tellWord: UnsafeMutablePointer<AtomicWord.Storage>

    init(target: DispatchQueue, of turns: TurnQueue) {
        self.target = target
        targetIdentity = target.identity
        self.turns = turns
        unsafe tellWord = .allocate(capacity: 1)
        unsafe tellWord.initialize(to: AtomicWord.zero)
        super.init(kind: .queue)
        identity = unsafe UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) & identityBits
    }

    deinit {
        unsafe tellWord.deallocate()
    }
}

extension Lane {
    /// Counts up when the block begins to tell somebody, and when it ends: odd in between.
    var tells: AtomicWord { unsafe AtomicWord(tellWord) }

    var isEmpty: Bool { occupied == 0 && next == batch.count }

    /// Adds a command behind all others of its priority.
    func append(_ command: PendingCommand) {
        let level = Int(command.priority.level)
        commands[level].append(command)
        occupied |= 1 << command.priority.level
    }

    /// The command that is next, of those that are not in the batch. Cancelled ones before it go.
    func dropCancelledAndGetFirst() -> PendingCommand? {
        while occupied != 0 {
            let level = topLevel
            let first = commands[level].first!
            if first.state == .waiting { return first }
            _ = commands[level].removeFirst()
            emptied(level)
        }
        return nil
    }

    /// One of its commands was cancelled. It leaves when it is the first, or with many others: O(1) on average.
    func noteCancelled() {
        cancelledCount += 1
        let count = commands.reduce(0) { $0 + $1.count }
        if cancelledCount <= 32 + count / 2 { return }
        cancelledCount = 0
        for level in commands.indices {
            var kept = CommandFIFO()
            while let command = commands[level].removeFirst() {
                if command.state == .waiting { kept.append(command) }
            }
            commands[level] = kept
            emptied(level)
        }
    }

    /// Cancels all that wait, of one priority or of all.
    ///
    /// - Returns: Those which it is this call that has ended.
    func endAll(_ priority: CommandPriority?, as state: PendingCommand.State) -> [PendingCommand] {
        var ended: [PendingCommand] = []
        func end(_ command: PendingCommand) -> Bool {
            if let priority, command.priority != priority { return false }
            if command.move(.waiting, to: state) { ended.append(command) }
            return true
        }
        for command in batch.dropFirst(next) { _ = end(command) }
        for level in commands.indices {
            var kept = CommandFIFO()
            while let command = commands[level].removeFirst() {
                if !end(command) { kept.append(command) }
            }
            commands[level] = kept
            emptied(level)
        }
        return ended
    }

    private var topLevel: Int { UInt64.bitWidth - 1 - occupied.leadingZeroBitCount }

    private func emptied(_ level: Int) {
        if commands[level].first == nil { occupied &= ~(1 << UInt64(level)) }
    }

    /// The block takes the next commands, all of one priority. With the turn.
    func takeBatch() {
        guard let priority = dropCancelledAndGetFirst()?.priority else { return }
        let level = Int(priority.level)
        while batch.count < HandoffPolicy.batch, let command = commands[level].removeFirst() { batch.append(command) }
        emptied(level)
    }

    /// The block is about to begin the next command of its batch. With the turn.
    func claimNext() -> PendingCommand? {
        while next < batch.count {
            next += 1
            if batch[next - 1].move(.waiting, to: .running) { return batch[next - 1] }
        }
        return nil
    }

    /// The block does not begin it after all.
    func unclaim(_ command: PendingCommand) {
        _ = command.move(.running, to: .waiting)
        next -= 1
    }

    /// The block gives back what it has not begun. Under the lock, with the turn or while the block tells somebody.
    func putBatchBack() {
        while batch.count > next {
            let command = batch.removeLast()
            commands[Int(command.priority.level)].prepend(command)
            occupied |= 1 << command.priority.level
        }
        batch.removeAll(keepingCapacity: true)
        next = 0
    }

    /// A new block is about to be dispatched.
    func startBlock() {
        hasBlock = true
        block += 1
    }
}
