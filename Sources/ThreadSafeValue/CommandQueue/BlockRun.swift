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

    // Not tracked, as the state of a waiter. Changed with the turn; those that others read, under the lock too.

    /// The commands that the block may begin, from the first one on.
    @exclusivity(unchecked) private(set) var batch = LinkedFIFO<PendingCommand>()

    /// The command of the batch that is next.
    @exclusivity(unchecked) private var next: Unmanaged<PendingCommand>?

    /// The last command before that, and how many there are.
    @exclusivity(unchecked) private var lastPassed: Unmanaged<PendingCommand>?
    @exclusivity(unchecked) private var passedCount = 0

    /// Commands of earlier batches. What a closure returned may go away with them, and run any code: so without the turn.
    @exclusivity(unchecked) var spent = LinkedFIFO<PendingCommand>()

    /// The turn word while nothing has changed since the batch was taken.
    @exclusivity(unchecked) var word = TurnWord(bits: 0)

    /// An equal waiter stands before the commands from this arrival on.
    @exclusivity(unchecked) private var bound = UInt64.max

    /// How many commands have begun.
    @exclusivity(unchecked) var count = 0

    /// What `isTelling` counted when the timer looked last. Guarded by the lock.
    @exclusivity(unchecked) private var tellingAtLook: UInt64 = 0

    // The block's own.

    /// The holder, when the block has the turn.
    @exclusivity(unchecked) var thread: UInt64 = 0

    @exclusivity(unchecked) var hasTurn = false

    /// The command that begins now.
    @exclusivity(unchecked) var current: PendingCommand?

    /// Commands that are over and to be told. The batch or `spent` keeps them.
    @exclusivity(unchecked) private var untold: [Unmanaged<PendingCommand>] = unsafe []

    /// What tells listeners without the turn.
    @exclusivity(unchecked) var deliveries: [Notification] = []

    /// Whether the turn is to be freed before the next command, as somebody is to be told.
    @exclusivity(unchecked) var isToTell = false

    /// Whether commands that wait for a change are to stand in line.
    @exclusivity(unchecked) var hasChanged = false

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
    var hasMore: Bool { unsafe next != nil && count < HandoffPolicy.batch }

    /// Takes the next commands of the lane, and begins the first. Under the lock, with the turn, as the lane is the front.
    func takeBatch(of line: borrowing Line) {
        unsafe batch = lane.commands.takeBatch()
        unsafe (next, passedCount) = (batch.head, 0)
        bound = line.arrivalOfSecond(lane.state.priority)
        current = nil
        while current == nil, let command = peek() {
            if command.move(.waiting, to: .running) { current = command }
            pass()
        }
    }

    /// Gives back what the block has not begun. Under the lock, with the turn.
    func putBatchBack() {
        if let lastPassed = unsafe lastPassed.take() {
            unsafe spent.append(contentsOf: batch.removeFirst(passedCount, to: lastPassed))
        }
        unsafe lane.commands.putBack(batch)
        unsafe (batch, next, passedCount) = (LinkedFIFO(), nil, 0)
    }

    /// Begins the next command without the lock, while the turn word is what it was.
    ///
    /// Invariant (claim, then look): a change of the line that comes before the exchange lets that fail, and finds the
    /// command waiting. A change after the exchange finds it begun. A cancellation in between wins.
    func claimNext(_ turn: AtomicWord) -> PendingCommand? {
        while count < HandoffPolicy.batch, let command = peek(), unsafe command.arrival < bound {
            if command.move(.waiting, to: .claimed) {
                if !turn.exchange(word.bits, for: word.bits) {
                    _ = command.move(.claimed, to: .waiting)
                    return nil
                }
                pass()
                if command.move(.claimed, to: .running) { return command }
            } else {
                pass()
            }
        }
        return nil
    }

    private func peek() -> PendingCommand? { unsafe next?.takeUnretainedValue() }

    private func pass() {
        guard let link = unsafe next else { return }
        unsafe lastPassed = link
        unsafe next = link._withUnsafeGuaranteedRef { unsafe $0.next }
        passedCount += 1
    }

    /// A command is over, and is to be told without the turn.
    func isOver(_ command: PendingCommand) { unsafe untold.append(Unmanaged.passUnretained(command)) }

    /// Lets go of commands that are over, and tells callers. Each may run any code.
    func tell() {
        isToTell = false
        // Listeners first: a completion may wait for one. What a buffer pushes out goes away last: it may wait for one.
        for delivery in deliveries { delivery.perform() }
        for command in unsafe untold { unsafe command._withUnsafeGuaranteedRef { $0.releaseAndNotify(lane) } }
        unsafe untold.removeAll(keepingCapacity: true)
        deliveries = []
    }
}
