//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CFiber

/// What a virtual thread does next, once the scheduler lets it.
@safe
enum Step {
    /// Always possible.
    case run(StaticString, UInt64)
    case lock(UnsafeMutablePointer<PlatformLock.Storage>)
    case wait(DispatchSemaphore)
    /// Always possible, as the time may be up.
    case waitFor(DispatchSemaphore)
    case work(DispatchQueue)
    case until(StaticString, () -> Bool)
    case never

    var isPossible: Bool {
        switch self {
        case .run, .waitFor: true
        case .lock(let lock): unsafe lock.pointee.holder == nil
        case .wait(let semaphore): semaphore.count > 0
        case .work(let queue): queue.hasWork
        case .until(_, let condition): condition()
        case .never: false
        }
    }
}

/// A thread of a scenario or a worker of a queue, on a stack of its own.
@safe
final class VirtualThread {
    let index: Int
    private(set) var name = ""
    let fiber: UnsafeMutablePointer<cfiber>
    var next: Step = .never
    private(set) var isFinished = true

    /// The queue that it works for; `nil` for a thread of the scenario.
    private(set) var queue: DispatchQueue?

    /// Everything that it has seen since it started or forgot, in one number. Its own state depends on nothing else.
    private(set) var observed: UInt64 = 0

    /// How many objects it has made, which names the next.
    var objects: UInt64 = 0

    /// What the monitor knows of it.
    var notes = Monitor.ThreadNotes()

    /// When the latest commands came to their lines that it has submitted.
    var latestArrivals: [Submitter.Place: UInt64] = [:]

    // What it does for a line: see `Monitor+Lines`.
    /// Of a worker: its block and the commands that ran in it, and how often it took the lock since the last.
    private var run: UInt64 = 0
    var locks = 0

    /// The lanes and the numbers of their blocks when it took the lock.
    var blocks: [(lane: Lane, number: UInt64)] = []
    /// The blocks that it has to dispatch, since it gave the lock back.
    var owed: [(target: UInt, tag: UInt64)] = []
    /// The value whose lock it gave back last.
    var lastValue = 0

    /// The command with which it waits in line, made at its first use.
    private var ownWaiter: PendingCommand?

    private var body: (() -> Void)?

    init(index: Int) {
        self.index = index
        unsafe fiber = .allocate(capacity: 1)
        unsafe fiber.initialize(to: cfiber())
        unsafe cfiber_allocate(fiber, 256 << 10)
    }
}

extension VirtualThread {
    /// Begins anew with `body`.
    func start(_ name: String, of queue: DispatchQueue?, _ body: @escaping () -> Void) {
        self.name = name
        self.queue = queue
        self.body = body
        notes = Monitor.ThreadNotes()
        latestArrivals.removeAll(keepingCapacity: true)
        isFinished = false
        blocks = []
        owed = []
        next = .never
        objects = 0
        observed = mix(0, UInt64(index))
        unsafe cfiber_prepare(
            fiber,
            { context in unsafe VirtualThread.enter(context!) },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    func isWaiting(with command: PendingCommand) -> Bool { ownWaiter === command }

    /// For how long it stood in a line: see `Parker`.
    func timeInLine(_ line: UInt, since start: UInt64) -> UInt64 {
        ownWaiter?.parker?.timeInLine(line, since: start) ?? 0
    }

    /// A number of the form that the identity of a real thread has.
    var identity: UInt64 { 1 << 32 | UInt64(index) << 4 }

    /// The command with which the thread waits. Its name depends on the thread alone, and not on what that saw.
    var waiter: PendingCommand {
        if let ownWaiter { return ownWaiter }
        let made = world.named(mix(0xA17E, UInt64(index))) { PendingCommand(of: Parker()) }
        ownWaiter = made
        return made
    }

    /// Dispatches the block of a lane, of which no more is to be known.
    ///
    /// - Returns: The block in one number.
    func owes(_ lane: UInt) -> UInt64 {
        if owed.isEmpty { return observed }
        guard let index = owed.firstIndex(where: { $0.target == lane }) else {
            world.fail("a lane's block is missing")
            return 0
        }
        return owed.remove(at: index).tag
    }

    /// What comes now depends on nothing that it saw before but `outcome`.
    func forget(but outcome: UInt64 = 0) {
        observed = mix(mix(0, UInt64(index)), outcome)
    }

    /// The thread parks, or goes to the graph of waiting threads.
    ///
    /// Of all it has seen nothing matters any more there but the commands that it is in and how far they are: this is
    /// how the library is written (`waitInLine`, `performManually`), and it saves most of the states.
    func rememberOnlyCommands() {
        // A worker remembers the block that it runs, and a thread with a time-out until when it waits.
        if queue != nil || world.monitor.hasTimeout(self) { return }
        forget(but: mix(1, world.monitor.progress(self)))
    }

    func recall(_ all: UInt64) {
        observed = all
    }

    /// The thread begins a command, with the turn. How it came to that does not matter any more.
    ///
    /// For a worker there are besides the block and what that has run: `Batch` holds no more, unless it has changes to
    /// deliver.
    func begins(_ command: Command) {
        if queue == nil { return rememberOnlyCommands() }
        guard notes.waits.isEmpty, world.monitor.listening == .none else { return }
        run = mix(run, UInt64(command.index) << 8 | UInt64(locks))
        locks = 0
        forget(but: run)
    }

    /// A worker begins a block.
    func begins(_ block: UInt64) {
        run = mix(0xB10C, block)
        locks = 0
        observe(block)
    }

    func observe(_ fact: UInt64) {
        observed = mix(observed, fact)
    }

    /// It is stopped where it is, for good.
    func abandon() {
        isFinished = true
        body = nil
        ownWaiter = nil
        queue = nil
        next = .never
    }

    private static func enter(_ context: UnsafeMutableRawPointer) {
        let thread = unsafe Unmanaged<VirtualThread>.fromOpaque(context).takeUnretainedValue()
        thread.runBody()
        thread.isFinished = true
        thread.next = .never
        world.leave()
        fatalError("A finished thread goes on.")
    }

    // A function of its own, so that nothing of the body stays on the stack.
    @inline(never)
    private func runBody() {
        let body = self.body!
        self.body = nil
        body()
    }
}

/// A good mixture of two words; the order counts.
@inline(__always)
func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    var word = (left &* 0x9E37_79B9_7F4A_7C15) ^ (right &+ 0x2545_F491_4F6C_DD1D)
    word = (word ^ (word >> 32)) &* 0xD6E8_FEB8_6659_FD93
    word = (word ^ (word >> 29)) &* 0xBF58_476D_1CE4_E5B9
    return word ^ (word >> 32)
}
