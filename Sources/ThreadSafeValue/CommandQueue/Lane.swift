//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The commands for one target queue, and the one block that is dispatched there at a time.
///
/// It stands in line at the place of its first command, also while its block runs one. Guarded by the lock of the line,
/// but for what belongs to its block.
final class Lane: Waiter, @unchecked Sendable {
    let target: DispatchQueue

    /// The turn that its commands wait for.
    let turns: TurnQueue

    /// Those that wait. Not tracked, as the state of a waiter.
    @exclusivity(unchecked) var commands = LaneCommands()

    /// What the block runs now: it has a copy, and begins those that wait. Changed under the lock only.
    var batch: [PendingCommand] = []

    /// The number of the block that was dispatched last. Others have been replaced.
    var block = 0

    /// How often the block that runs has told somebody, `nil` while none runs, and how often it had when the timer
    /// looked.
    var tells: TellCount?
    var tellsAtLook: UInt64 = 0

    init(target: DispatchQueue, of turns: TurnQueue) {
        self.target = target
        self.turns = turns
        super.init(.queue, identity: UInt64(UInt(bitPattern: ObjectIdentifier(target))) & identityBits)
    }

    /// Whether nothing waits but what the block has taken.
    var isEmpty: Bool { unsafe commands.isEmpty }

    /// The block gives back what it has not begun. With the turn, or while the block tells somebody.
    ///
    /// - Parameter next: How many commands of the batch are known to have begun.
    func putBatchBack(from next: Int = 0) {
        unsafe commands.putBack(batch.dropFirst(next).filter { $0.state == .waiting })
        batch = []
    }

    /// Those that wait, of one priority or of all.
    func waiting(_ priority: CommandPriority?) -> [PendingCommand] {
        unsafe (batch + commands.all).filter { $0.state == .waiting && (priority == nil || $0.priority == priority) }
    }

    /// Ends all that wait, of one priority or of all.
    ///
    /// - Returns: Those which it is this call that has ended.
    func endAll(_ priority: CommandPriority?, as state: CommandState) -> [PendingCommand] {
        let ended = waiting(priority).filter { $0.move(.waiting, to: state) }
        unsafe commands.dropCancelled()
        return ended
    }

    /// Dispatches the block, for which the value was retained.
    override func wake() {
        target.async { [self, block] in turns.run(self, block: block) }
    }
}

/// Counts up when a block begins to tell somebody, and when it ends: odd in between. Only that block counts.
final class TellCount: @unchecked Sendable {
    // First, so that its address is known.
    private var bits = AtomicWord.zero

    /// Another block does the rest. Set on the block's own thread, or with the turn; read there with the turn.
    var isReplaced = false

    var word: AtomicWord { AtomicWord(firstIn: self) }
}
