//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What a lane's block has run in one go, and what is left to do without the turn: to tell callers and listeners, and,
/// when the block is over, to let go of the commands. Each of these may run any code.
@safe
struct Batch {
    /// How many commands it has begun.
    private(set) var count = 0

    // The commands that it has begun, in order, linked by `next`. It keeps them alive, those of a grant once that was
    // revoked.
    private var first: PendingCommand.Link?
    private var last: PendingCommand.Link?

    /// The block that is to follow, in a task.
    var task: TaskBlock?

    private var tell: (() -> Void)?
    private var deliveries: [Delivery] = []

    /// Whether somebody waits to hear of what it has run, so that the turn is to be freed before the next command.
    private(set) var isAwaited = false

    init() {}

    /// A command that has begun. It counts no reference, as the batch or the line keeps the command.
    @safe
    struct Begun {
        fileprivate let link: PendingCommand.Link

        func run(_ turn: Result<AnyObject, QueueSafeValueError>) -> PendingCommand.Ending {
            unsafe link._withUnsafeGuaranteedRef { $0.run(turn) }
        }
    }

    /// What listeners are to be told.
    struct Delivery {
        /// Whether a listener waits for it.
        let isAwaited: Bool
        let deliver: () -> Void
    }
}

extension Batch {
    /// Takes in a command that begins and has left the line.
    mutating func begin(_ command: PendingCommand) -> Begun {
        let link = unsafe Unmanaged.passRetained(command)
        if let last = unsafe last {
            unsafe last._withUnsafeGuaranteedRef { unsafe $0.next = link }
        } else {
            unsafe first = link
        }
        unsafe last = link
        count += 1
        return unsafe Begun(link: link)
    }

    /// Begins the next command of a lane, if that was granted to the block, which has begun the one before.
    mutating func beginGranted(of lane: Lane, block: UInt64) -> Begun? {
        guard lane.beginGranted(block: block) else { return nil }
        let next = unsafe last!._withUnsafeGuaranteedRef { unsafe $0.next! }
        unsafe last = next
        count += 1
        return unsafe Begun(link: next)
    }

    /// Takes in what tells the caller of the last command, or of manual ones that are complete now.
    mutating func tell(_ tell: @escaping () -> Void) {
        (self.tell, isAwaited) = (tell, true)
    }

    mutating func append(_ delivery: Delivery) {
        deliveries.append(delivery)
        if delivery.isAwaited { isAwaited = true }
    }

    /// Tells listeners and callers.
    mutating func tellAll() {
        isAwaited = false
        for delivery in deliveries { delivery.deliver() }
        if let tell {
            self.tell = nil
            tell()
        }
        // At last: what a change has pushed out of a buffer may wait, as it goes away, for what the caller does.
        if !deliveries.isEmpty { deliveries.removeAll() }
    }

    /// Lets go of the commands. The lane has no block any more but a task, as what goes away may wait for the lane's
    /// next command.
    mutating func removeAll() {
        for _ in 0..<count {
            let command = unsafe first!.takeRetainedValue()
            unsafe first = command.next
            command.dropWork()
        }
        count = 0
    }
}
