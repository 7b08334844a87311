//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// One block of a lane, from its dispatch to its end.
///
/// The block uses the batch with the turn and without the lock. Everybody else reads the batch under the lock, so a
/// command that was passed stays linked until the block gives the batch back there.
@safe final class BlockRun: @unchecked Sendable {
    let lane: Lane

    // The compiler tracks no access to the members below, as with `Waiter.state`: others read the batch under the lock.

    /// The commands that the block may begin, from `cursor` on. Changes with the turn and the lock.
    @safe @exclusivity(unchecked) private(set) var batch = LinkedFIFO<PendingCommand>()

    // How far the block is in its batch. Changes with the turn.

    /// The command of the batch that is next.
    @safe @exclusivity(unchecked) private var cursor: Unmanaged<PendingCommand>?

    /// The last command before that, and how many there are.
    @safe @exclusivity(unchecked) private var lastPassed: Unmanaged<PendingCommand>?
    @safe @exclusivity(unchecked) private var passedCount = 0

    /// Commands of earlier batches. They keep what closures returned, so their release may run any code: the block does it
    /// without the turn.
    @safe @exclusivity(unchecked) private var spent = LinkedFIFO<PendingCommand>()

    /// The turn word while nothing has changed since the batch was taken.
    @safe @exclusivity(unchecked) var word = TurnWord(bits: 0)

    /// An equal waiter stands before the commands from this arrival on.
    @safe @exclusivity(unchecked) private var bound = UInt64.max

    /// The count of `Reorderings` when the batch was taken.
    @safe @exclusivity(unchecked) private var reorderings: UInt64 = 0

    // Only the block uses these.

    /// The holder, when the block has the turn.
    @safe @exclusivity(unchecked) var thread: UInt64 = 0

    @safe @exclusivity(unchecked) var hasTurn = false

    /// Another block does the rest. Set with the turn, or by the thread of the block.
    @safe @exclusivity(unchecked) var isReplaced = false

    /// How many commands have begun.
    @safe @exclusivity(unchecked) var count = 0

    /// Commands that are over and to be told. The batch or `spent` keeps them.
    @safe @exclusivity(unchecked) private var untold: [Unmanaged<PendingCommand>] = unsafe []

    /// The calls that tell listeners without the turn.
    @safe @exclusivity(unchecked) var deliveries: [Notification] = []

    /// Whether the turn is to be freed before the next command, as somebody is to be told.
    @safe @exclusivity(unchecked) var isToTell = false

    /// Whether commands that wait for a change are to stand in line.
    @safe @exclusivity(unchecked) var hasChanged = false

    init(_ lane: Lane) { self.lane = lane }
}

extension BlockRun {
    /// The next command of the batch, unless a whole batch has begun, or an equal waiter stands before the command.
    private var next: Unmanaged<PendingCommand>? {
        // fault: rule 6: beyond its batch
        guard count < HandoffPolicy.batch, let link = cursor else { return nil }
        let isFirst = unsafe link._withUnsafeGuaranteedRef { $0.members.arrival < bound }
        return unsafe isFirst ? link : nil  // fault: rule 6: it passes an equal
    }

    /// Whether the batch has more commands.
    var hasMore: Bool { unsafe next != nil }

    /// Takes the next commands of the lane. Under the lock, with the turn, as the lane is the front.
    func takeBatch(before bound: UInt64, _ reorderings: UInt64) {
        batch = lane.commands.takeBatch()
        unsafe (cursor, passedCount) = (batch.head, 0)
        (self.bound, self.reorderings) = (bound, reorderings)
    }

    /// Gives back what the block has not begun, if there is a batch. Under the lock, with the turn.
    func putBatchBack() {
        // Without a batch, the block may be telling callers, and uses `spent` itself.
        if batch.count == 0 { return }
        if let last = unsafe lastPassed.take() {
            spent.append(contentsOf: unsafe batch.removeFirst(passedCount, to: last))
        }
        lane.commands.putBack(batch)  // fault: rule 6: the rest is lost
        (batch, cursor, passedCount) = (LinkedFIFO(), nil, 0)
    }

    /// Begins the next command without the lock, while the turn word is what it was.
    ///
    /// Invariant (claim, then look): a change of the line that comes before the exchange lets that fail, and finds the
    /// command waiting. A change after the exchange finds it begun. A cancellation in between wins.
    func claimNext(_ turns: TurnQueue) -> Unmanaged<PendingCommand>? {
        while let link = unsafe next {
            guard let hasBegun = unsafe link._withUnsafeGuaranteedRef({ claim($0, turns) }) else { break }
            unsafe (lastPassed, cursor) = (link, link._withUnsafeGuaranteedRef { unsafe $0.next })
            passedCount += 1
            if hasBegun { return unsafe link }
        }
        return nil
    }

    /// Whether a command has begun; `nil` if the line has changed.
    private func claim(_ command: PendingCommand, _ turns: TurnQueue) -> Bool? {
        let isClaimed = command.move(.waiting, to: .claimed)
        if isClaimed, !isUnchanged(turns) {
            _ = command.move(.claimed, to: .waiting)  // fault: rule 6: a claim stays
            return nil
        }
        return isClaimed && command.move(.claimed, to: .running)  // fault: cancelled, it begins
    }

    /// Whether nothing in line has changed since the batch was taken.
    private func isUnchanged(_ turns: TurnQueue) -> Bool {
        let isSame = turns.word.exchangeReleasing(word.bits, for: word.bits)  // fault: rule 6: a claim is never late
        // A waiter that returns after it was late may leave the word as it was. To see the count late is to see the change
        // late.
        return isSame && turns.reorderings.count == reorderings  // fault: rule 6: it passes what was late
    }

    /// A command is over, and is to be told without the turn.
    func isOver(_ command: PendingCommand) { unsafe untold.append(Unmanaged.passUnretained(command)) }

    /// Lets go of commands that are over, and tells callers. Each may run any code.
    func tell() {
        isToTell = false
        // Listeners first: a completion may wait for one. What a buffer pushes out goes away last: it may wait for one.
        for delivery in deliveries { delivery.perform() }
        for index in unsafe untold.indices {
            unsafe untold[index]._withUnsafeGuaranteedRef { $0.releaseAndNotify(lane) }
        }
        unsafe untold.removeLast(untold.count)
        deliveries = []
    }

    /// Lets go of all that it has run, once it has told callers.
    func forget() { while spent.removeFirst() != nil {} }
}
