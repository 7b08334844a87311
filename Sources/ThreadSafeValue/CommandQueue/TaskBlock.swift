//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A task that is the block of a lane, for one async command: it takes the turn when it runs, and not before, so no
/// turn is held while the cooperative pool is busy.
///
/// The block of the target queue that finds the command first in line starts it, and is over.
///
/// `@unchecked Sendable`: the owner is only kept, the command changes under the lock of the line, and the work belongs
/// to the block that starts it.
final class TaskBlock: @unchecked Sendable {
    /// The queue, which the task keeps as any block does.
    let owner: any AnyCommandQueue
    let lane: Lane
    let number: UInt64
    let command: PendingCommand

    /// The work of the command, which may be cancelled before the task is started.
    private var work: PendingCommand.Work?

    /// The lane was dispatched for its next command. Under the lock of the line.
    init(owner: any AnyCommandQueue, lane: Lane, command: PendingCommand) {
        self.owner = owner
        self.lane = lane
        self.command = command
        number = lane.blockNumber
        work = command.waitingWork
    }
}

extension TaskBlock {
    /// Starts the task, also for a command that was cancelled meanwhile: the lane's block must come.
    func start() {
        let work = self.work!
        self.work = nil
        _ = work(.success(self))
    }

    /// Takes the turn for the command, unless another one is first in line, or the command has left it.
    ///
    /// - Parameter holder: Who is to have the turn.
    /// - Returns: The command, if it has.
    func takeTurn(as holder: UInt64) -> PendingCommand? {
        owner.turns.takeTurn(for: lane, block: number, of: command, as: holder)
    }
}
