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
    private var lastLink: PendingCommand.Link?

    private var tell: (() -> Void)?
    private var deliveries: [Delivery] = []

    /// Whether somebody waits to hear of what it has run, so that the turn is to be freed before the next command.
    private(set) var isAwaited = false

    init() {}

    /// What listeners are to be told.
    struct Delivery {
        /// Whether a listener waits for it.
        let isAwaited: Bool
        let deliver: () -> Void
    }
}

extension Batch {
    /// The latest command that it has begun.
    var last: PendingCommand? { unsafe lastLink?.takeUnretainedValue() }

    /// Takes in a command that begins and has left the line.
    mutating func begin(_ command: PendingCommand) {
        let link = unsafe Unmanaged.passRetained(command)
        if let last {
            unsafe last.next = link
        } else {
            unsafe first = link
        }
        unsafe lastLink = link
        count += 1
    }

    /// Takes in a command of a grant that begins: it is linked to the one before.
    mutating func beginGranted(_ command: PendingCommand) {
        unsafe lastLink = .passUnretained(command)
        count += 1
    }

    /// Takes in what tells the caller of the last command.
    mutating func tell(_ tell: @escaping () -> Void) {
        (self.tell, isAwaited) = (tell, true)
    }

    mutating func append(_ delivery: Delivery) {
        deliveries.append(delivery)
        if delivery.isAwaited { isAwaited = true }
    }

    /// Tells listeners and the caller of the last command.
    mutating func tellAll() {
        isAwaited = false
        if !deliveries.isEmpty {
            for delivery in deliveries { delivery.deliver() }
            deliveries.removeAll()
        }
        if let tell {
            self.tell = nil
            tell()
        }
    }

    /// Lets go of the commands. The lane has no block any more, as what goes away may wait for the lane's next
    /// command.
    mutating func removeAll() {
        for _ in 0..<count {
            let command = unsafe first!.takeRetainedValue()
            unsafe first = command.next
            command.dropWork()
        }
        count = 0
    }
}
