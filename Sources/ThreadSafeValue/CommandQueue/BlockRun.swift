//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// One block of a lane, from its dispatch to its end.
///
/// The block uses the batch with the turn and without the lock. Everybody else reads the batch under the lock, so a
/// command that was passed stays linked until the block gives the batch back there.
@safe
final class BlockRun: @unchecked Sendable {
    // First, so that its address is known: counts up when the block frees the turn, and when it asks for the turn again.
    private var telling = AtomicWord.zero

    let lane: Lane

    /// What `isTelling` counted when the timer looked last. Guarded by the lock.
    private var tellingAtLook: UInt64 = 0

    // Not tracked, as the state of a waiter. Three of them, as others read the batch under the lock, and the timer gives it
    // back.

    /// The commands that the block may begin, from the first one on. Changes with the turn and the lock.
    @safe @exclusivity(unchecked) private(set) var batch = LinkedFIFO<PendingCommand>()

    @safe @exclusivity(unchecked) private var cursor = Cursor()

    @safe @exclusivity(unchecked) var state = State()

    /// How far the block is in its batch. Changes with the turn.
    @safe
    private struct Cursor {
        /// The command of the batch that is next.
        var next: Unmanaged<PendingCommand>?

        /// The last command before that, and how many there are.
        var lastPassed: Unmanaged<PendingCommand>?
        var passedCount = 0

        /// Commands of earlier batches. What a closure returned may go away with them, and run any code: so without the
        /// turn.
        var spent = LinkedFIFO<PendingCommand>()
    }

    /// What only the block uses.
    @safe
    struct State {
        /// The turn word while nothing has changed since the batch was taken.
        var word = TurnWord(bits: 0)

        /// An equal waiter stands before the commands from this arrival on.
        fileprivate var bound = UInt64.max

        /// The count of `Reorderings` when the batch was taken.
        fileprivate var reorderings: UInt64 = 0

        /// The holder, when the block has the turn.
        var thread: UInt64 = 0

        var hasTurn = false

        /// Another block does the rest. Set with the turn, or by the thread of the block.
        var isReplaced = false

        /// How many commands have begun.
        var count = 0

        /// The command that begins now.
        var current: PendingCommand?

        /// Commands that are over and to be told. The batch or `spent` keeps them.
        fileprivate var untold: [Unmanaged<PendingCommand>] = unsafe []

        /// What tells listeners without the turn.
        var deliveries: [Notification] = []

        /// Whether the turn is to be freed before the next command, as somebody is to be told.
        var isToTell = false

        /// Whether commands that wait for a change are to stand in line.
        var hasChanged = false
    }

    init(_ lane: Lane) {
        self.lane = lane
    }
}

extension BlockRun {
    private var tellingWord: AtomicWord { AtomicWord(firstIn: self) }

    /// Whether the block runs what may be code of a user without the turn.
    var isTelling: Bool {
        get { tellingWord.load() & 1 == 1 }
        set { if newValue != isTelling { tellingWord.increment() } }
    }

    /// Whether the block has been telling since the timer looked last (rule 6). Under the lock.
    func hasToldSinceLook() -> Bool {
        let count = tellingWord.load()
        defer { tellingAtLook = count }
        return count & 1 == 1 && count == tellingAtLook
    }

    /// Whether the batch has more commands.
    var hasMore: Bool {
        guard state.count < HandoffPolicy.batch, let command = peek() else { return false }
        return unsafe command.arrival < state.bound
    }

    /// Takes the next commands of the lane, and begins the first. Under the lock, with the turn, as the lane is the front.
    func takeBatch(of line: borrowing Line) {
        batch = lane.commands.takeBatch()
        unsafe (cursor.next, cursor.passedCount) = (batch.head, 0)
        (state.bound, state.reorderings) = (line.arrivalOfSecond(lane.state.priority), line.reorderings.count)
        state.current = nil
        while state.current == nil, let command = peek() {
            if command.move(.waiting, to: .running) { state.current = command }
            pass()
        }
    }

    /// Gives back what the block has not begun, if there is a batch. Under the lock, with the turn.
    func putBatchBack() {
        // Without a batch, the block may be telling callers, and uses the cursor itself.
        if batch.count == 0 { return }
        if let last = unsafe cursor.lastPassed.take() {
            unsafe cursor.spent.append(contentsOf: batch.removeFirst(cursor.passedCount, to: last))
        }
        lane.commands.putBack(batch)  // fault: rule 6: the rest is lost
        unsafe (batch, cursor.next, cursor.passedCount) = (LinkedFIFO(), nil, 0)
    }

    /// Begins the next command without the lock, while the turn word is what it was.
    ///
    /// Invariant (claim, then look): a change of the line that comes before the exchange lets that fail, and finds the
    /// command waiting. A change after the exchange finds it begun. A cancellation in between wins.
    func claimNext(_ turns: TurnQueue) -> PendingCommand? {
        // fault: rule 6: beyond its batch; rule 6: it passes an equal
        while state.count < HandoffPolicy.batch, let command = peek(), unsafe command.arrival < state.bound {
            if command.move(.waiting, to: .claimed) {
                // fault: rule 6: a claim is never late
                let isUnchanged = turns.word.exchange(state.word.bits, for: state.word.bits)
                // What comes back after it was late may leave the word as it was.
                // fault: rule 6: it passes what was late
                if !isUnchanged || turns.reorderings.count != state.reorderings {
                    _ = command.move(.claimed, to: .waiting)  // fault: rule 6: a claim stays
                    return nil
                }
                pass()
                if command.move(.claimed, to: .running) { return command }  // fault: cancelled, it begins
            } else {
                pass()
            }
        }
        return nil
    }

    private func peek() -> PendingCommand? { unsafe cursor.next?.takeUnretainedValue() }

    private func pass() {
        guard let link = unsafe cursor.next else { return }
        unsafe cursor.lastPassed = link
        unsafe cursor.next = link._withUnsafeGuaranteedRef { unsafe $0.next }
        cursor.passedCount += 1
    }

    /// A command is over, and is to be told without the turn.
    func isOver(_ command: PendingCommand) { unsafe state.untold.append(Unmanaged.passUnretained(command)) }

    /// Lets go of commands that are over, and tells callers. Each may run any code.
    func tell() {
        state.isToTell = false
        // Listeners first: a completion may wait for one. What a buffer pushes out goes away last: it may wait for one.
        for delivery in state.deliveries { delivery.perform() }
        for index in unsafe state.untold.indices {
            unsafe state.untold[index]._withUnsafeGuaranteedRef { $0.releaseAndNotify(lane) }
        }
        unsafe state.untold.removeAll(keepingCapacity: true)
        state.deliveries = []
    }

    /// Lets go of all that it has run, once it has told callers.
    func forget() { cursor.spent.removeAll() }
}
