//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What a lane's block has run in one go, and what is left to do without the turn: to tell callers and listeners, and,
/// when the block is over, to let go of the commands. Each of these may run any code.
@safe
struct Batch {
    /// How many commands it has run.
    private(set) var count = 0

    // The commands that ran, linked by `next` and kept alive by this.
    private var ran: PendingCommand.Link?

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
    /// Takes in a command that ran.
    mutating func append(_ command: consuming PendingCommand, tell: (() -> Void)?) {
        count += 1
        unsafe command.next = ran
        unsafe ran = .passRetained(command)
        if let tell { (self.tell, isAwaited) = (tell, true) }
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
        while let command = unsafe ran?.takeRetainedValue() {
            unsafe ran = command.next
            unsafe command.next = nil
            command.dropWork()
        }
    }
}
