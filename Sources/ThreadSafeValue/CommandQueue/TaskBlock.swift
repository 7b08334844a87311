//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A task that is the block of a lane, for one async command: it takes the turn when it runs, and not before, so no turn
/// is held while the cooperative pool is busy.
///
/// The block of the target queue that finds the command first in line starts it, and is over.
///
/// `@unchecked Sendable`: the owner is only kept, and the command changes under the lock of the line.
final class TaskBlock: @unchecked Sendable {
    /// The queue, which the task keeps as any block does.
    let owner: any AnyCommandQueue
    let lane: Lane
    let number: UInt64
    let command: PendingCommand

    init(owner: any AnyCommandQueue, lane: Lane, number: UInt64, command: PendingCommand) {
        self.owner = owner
        self.lane = lane
        self.number = number
        self.command = command
    }
}

extension TaskBlock {
    func start() {
        _ = command.run(.success(self))
    }

    /// Takes the turn for the command, unless another one is first in line, or the command has left it.
    ///
    /// - Parameter holder: Who is to have the turn.
    /// - Returns: The command, if it has.
    func takeTurn(as holder: UInt64) -> PendingCommand? {
        owner.turns.takeTurn(for: lane, block: number, of: command, as: holder)
    }
}
