//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The commands for one target queue, and the one block that is dispatched there at a time.
///
/// A lane stands in line at the place of its first command, also while its block runs one. Guarded by the lock of the
/// line.
final class Lane: Waiter, @unchecked Sendable {
    let target: DispatchQueue

    /// The turn that its commands wait for.
    let turns: TurnQueue

    // Not tracked, as the state of a waiter.

    /// The commands that wait, but for the batch of the block.
    @safe @exclusivity(unchecked) var commands = LaneCommands()

    /// The block that was dispatched last, until it is over. A block that was replaced is not here any more.
    @safe @exclusivity(unchecked) var running: BlockRun?

    init(target: DispatchQueue, of turns: TurnQueue) {
        (self.target, self.turns) = (target, turns)
        super.init(.queue, identity: 0)
    }
}

extension Lane {
    /// Whether the block of the lane has commands of it.
    var hasBatch: Bool { running.map { $0.batch.count > 0 } ?? false }

    /// The commands that wait, of one priority or of all.
    func waiting(_ priority: CommandPriority?) -> [PendingCommand] {
        ((running?.batch.elements ?? []) + commands.all).filter {
            $0.isPending && (priority == nil || $0.priority == priority)
        }
    }

    /// Ends all commands that wait, of one priority or of all.
    ///
    /// - Returns: The commands that this call ended.
    func endAll(_ priority: CommandPriority?, as state: CommandState) -> [PendingCommand] {
        let ended = waiting(priority).filter { $0.endBeforeItBegins(as: state) }
        commands.dropCancelled()
        return ended
    }
}
