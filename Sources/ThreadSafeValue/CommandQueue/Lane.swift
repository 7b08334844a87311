//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

package import Dispatch

/// The pending commands of one target queue, drained by one block; or the one of a task, which is that block.
///
/// A lane has at most one block: it takes the turn if it may and runs the lane's commands one after the other, so one
/// dispatch serves many. A lane lives in the line only while it has commands or a block.
///
/// `@unchecked Sendable`: everything mutable is protected by the lock of the line.
@safe
package final class Lane: @unchecked Sendable {
    /// What is known of the lane's block.
    enum Block {
        /// None is dispatched.
        case none
        /// The target queue has not started it yet.
        case dispatched(at: UInt64)
        /// It runs, on a thread, and will look for the lane's next command by itself. `since` then it has not held the
        /// turn.
        case present(since: UInt64, thread: UInt64)
    }

    let target: Target
    let identity: UInt

    // Unchecked: the methods below are all that touches it, and none leads to another.
    @exclusivity(unchecked) private(set) var commands = PriorityFIFO()

    private(set) var block = Block.none

    /// The number of the latest block. One that was given up, because it stayed away, may come back later.
    package private(set) var blockNumber: UInt64 = 0

    @exclusivity(unchecked) private var overdue = false

    /// How many blocks are dispatched or run, and when one returned to its queue last.
    private(set) var blockCount = 0
    private(set) var latestReturn: UInt64 = 0

    /// How many blocks the queue has room for: one more could not start in time. `.max` if that is not known.
    private(set) var room = Int.max

    /// How long the queue took to start the latest block, in nanoseconds, and how many blocks in a row came for the
    /// front and found the turn taken.
    private(set) var delay: UInt64 = 0
    private(set) var misses: UInt64 = 0

    /// A command of the lane has the turn, on the thread of its block.
    private(set) var hasTurn = false

    /// The thread of its block stands in line, so the block cannot come.
    private(set) var blockWaits = false

    /// Where it stands among the lanes that have commands and a place in line, if it does.
    @exclusivity(unchecked) private var placeInLine: Int?

    /// What the block changes without the lock of the line: the `Probe`; when it last freed the turn, in nanoseconds of
    /// `now()`; and how many of the granted commands it has not begun.
    private let words: UnsafeMutablePointer<AtomicWord.Storage>

    /// How many commands were granted.
    private(set) var granted = 0

    /// Whether any command since the lane was empty needs a task.
    private(set) var isAsync = false

    /// Completions of manual commands of the lane, to be called before the next one begins.
    var completionCalls: [CompletionCall] = []

    /// Whether a block was ever dispatched to see whether the queue stands still.
    private(set) var wasProbed = false

    package convenience init(target: DispatchQueue) {
        self.init(.queue(target), target.identity)
    }

    /// The lane of a task, which has one command.
    convenience init(of task: WaitingTask) {
        self.init(.task(task), task.identity)
    }

    private init(_ target: Target, _ identity: UInt) {
        self.target = target
        self.identity = identity
        unsafe words = .allocate(capacity: 3)
        unsafe words.initialize(repeating: AtomicWord.zero, count: 3)
    }

    deinit {
        unsafe words.deallocate()
    }
}

extension Lane {
    /// Where the block of a lane runs.
    enum Target {
        case queue(DispatchQueue)
        /// The block is the task that goes on.
        case task(WaitingTask)
    }

    /// Whether its block is one of a target queue.
    var isOfQueue: Bool {
        if case .queue = target { true } else { false }
    }
}

extension Lane.Target {
    /// Where the callers of its commands are told that these do not run.
    private var queue: DispatchQueue { if case .queue(let queue) = self { queue } else { awaitedTarget } }

    /// Runs `body` where callers are told.
    func async(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    /// Tells callers, each in a block of its own: one may wait for what another does.
    func tell(_ refusals: [() -> Void]) {
        for refusal in refusals {
            // A closure that AsyncCommands made of `Sendable` ones, or the end of a task's command.
            nonisolated(unsafe) let refusal = refusal
            queue.async { unsafe refusal() }
        }
    }
}

// A block may be dispatched only to see whether its queue stands still. If nobody needs it when it comes, it leaves
// without the lock of the line: thousands of them that wait for that would hold up all others.

extension Lane {
    /// What is known of a block that is a probe.
    enum Probe {
        /// The block is none, or it was claimed.
        static var none: UInt64 { 0 }
        static var pending: UInt64 { 1 }
        /// The block has come and gone.
        static var answered: UInt64 { 2 }
    }

    var probe: AtomicWord { unsafe AtomicWord(words) }

    package func dispatchProbe(at time: UInt64) {
        dispatch(at: time)
        wasProbed = true
        probe.store(Probe.pending)
    }

    /// A block comes, without the lock of the line.
    ///
    /// - Returns: Whether it is needed.
    package func blockIsNeeded() -> Bool {
        probe.load() == Probe.none || !probe.exchange(Probe.pending, for: Probe.answered)
    }

    /// A block that has not come yet is needed from now on.
    func claimBlock() {
        if probe.load() == Probe.none || probe.exchange(Probe.pending, for: Probe.none) { return }
        // What was done before the block came is over: an exchange that fails orders nothing.
        _ = probe.loadAcquiring()
        probe.store(Probe.none)
        leave()
        blockCount -= 1
    }
}

// A grant: the block may begin some of the next commands without the lock of the line, which those who submit want too.
// A begun command stays in the lane until the grant is revoked.

extension Lane {
    /// What is left of a grant, in one word with the number of its block: one that was given up may come back while
    /// another has a grant.
    struct Grant {
        let bits: UInt64

        init(bits: UInt64) {
            self.bits = bits
        }

        init(_ count: Int, to block: UInt64) {
            bits = block << 16 | UInt64(count)
        }

        static var maximum: Int { 0xFFFF }

        /// How many commands the block may still begin.
        var count: Int { Int(bits) & Self.maximum }

        func isNotEmpty(for block: UInt64) -> Bool { count > 0 && bits >> 16 == block }
    }

    var grantWord: AtomicWord { unsafe AtomicWord(words + 2) }

    /// The grant as it is now.
    var grant: Grant { Grant(bits: grantWord.load()) }

    /// Grants the latest block the next commands, of one priority.
    ///
    /// - Parameters:
    ///   - limit: How many at most.
    ///   - command: The one that the block begins with the lock, which leads to them.
    /// - Returns: Whether there are any.
    func grant(atMost limit: Int, after command: PendingCommand) -> Bool {
        granted = unsafe min(limit, commands.firstCount, Grant.maximum)
        guard granted > 0 else { return false }
        unsafe command.next = firstLink
        grantWord.store(Grant(granted, to: blockNumber).bits)
        return true
    }

    /// A block begins its next command, if that was granted to it.
    ///
    /// - Parameter block: The number of the block.
    /// - Returns: Whether it was. Only then nobody changes the link to that command any more.
    func beginGranted(block: UInt64) -> Bool {
        while true {
            let left = grant
            guard left.isNotEmpty(for: block) else { return false }
            if grantWord.exchange(left.bits, for: left.bits - 1) { return true }
        }
    }

    /// How many of the granted commands the block has begun.
    var begunCount: Int { granted - grant.count }

    /// Revokes the grant. The commands that the block has begun leave the lane, and are kept alive by the block.
    ///
    /// - Returns: How many these were.
    func revokeGrant() -> Int {
        var left = grant
        while left.count > 0, !grantWord.exchange(left.bits, for: 0) { left = grant }
        let begun = granted - left.count
        granted = 0
        unsafe commands.dropFirst(begun) { $0.leave(.started) }
        return begun
    }
}

extension Lane {
    /// The queue did not start the block in time: the lane's commands have no place in line until the block arrives.
    package var isOverdue: Bool { unsafe overdue }

    /// Nothing is left of it to do or to wait for, and no block of it will come.
    var isIdle: Bool {
        if case .none = block { isEmpty && blockCount == 0 } else { false }
    }

    /// Whether a block is on its way to the turn.
    package var hasBlock: Bool {
        if case .none = block { false } else { true }
    }

    /// Whether its block has not started yet.
    var isDispatched: Bool {
        if case .dispatched = block { true } else { false }
    }

    /// Whether its block runs and will look for the next command by itself.
    var isPresent: Bool {
        if case .present = block { true } else { false }
    }

    /// Until when a free turn is kept for the block, given the time.
    func deadline(now time: UInt64, _ policy: HandoffPolicy) -> UInt64 {
        switch block {
        case .none: time &+ keeping(policy)
        // Without room for it, what is known of the queue says nothing of when another block makes some.
        case .dispatched(let start): start &+ (blockCount > room ? policy.keeping : keeping(policy))
        case .present(let start, _): pause(since: start) &+ policy.keeping
        }
    }

    /// Whether its queue is known to start blocks late.
    func isSlow(_ policy: HandoffPolicy) -> Bool { delay > policy.keeping }

    /// Whether the block is late, though the turn is kept for it still. Not after it came in vain more than once, nor if
    /// it was a probe that has come.
    func mayBePassed(at time: UInt64, _ policy: HandoffPolicy) -> Bool {
        guard case .dispatched(let start) = block, probe.load() != Probe.answered else { return false }
        return misses < 2 && time >= start &+ policy.keeping
    }

    private var freed: AtomicWord { unsafe AtomicWord(words + 1) }

    /// The block is about to free the turn without the lock of the line.
    package func freesTurn(at time: UInt64) {
        freed.store(time)
    }

    /// Since when a block that is present has not held the turn.
    private func pause(since time: UInt64) -> UInt64 { max(time, freed.load()) }

    /// Whether a command of the lane has the turn, given who does. Not after a manual command was left to its `done`.
    func hasTurn(of holder: UInt64) -> Bool { hasTurn && thread == holder }

    /// Whether its block should be there by now. Not while it runs a command: nothing else could come to the turn.
    func isLate(at time: UInt64, holder: UInt64, _ policy: HandoffPolicy) -> Bool {
        hasBlock && !hasTurn(of: holder) && time >= deadline(now: time, policy)
    }

    package func dispatch(at time: UInt64) {
        blockCount += 1
        blockNumber += 1
        block = .dispatched(at: time)
    }

    /// The block, which is present, comes again.
    func arriveAgain(on thread: UInt64) {
        if case .present(let start, _) = block { arrive(at: pause(since: start), on: thread) }
    }

    /// The block runs, and has the turn or looks for it.
    func arrive(at time: UInt64, on thread: UInt64) {
        // What was known is not so any more.
        if isDispatched, blockCount > room { room = .max }
        block = .present(since: time, thread: thread)
        hasTurn = false
        blockWaits = false
        unsafe overdue = false
    }

    /// The lane loses its place until its block arrives.
    func becomeOverdue() {
        unsafe overdue = true
        if isDispatched { room = blockCount - 1 }
    }

    /// A block has returned to its queue.
    func blockReturns(at time: UInt64) {
        blockCount -= 1
        latestReturn = time
    }

    /// The thread of its block stands in line from now on, or no more.
    func blockWaits(_ waits: Bool) {
        blockWaits = waits
    }

    /// The block is over, or is given up: another may be dispatched.
    func leave() {
        block = .none
        hasTurn = false
        blockWaits = false
    }

    /// The thread of its block, if that runs.
    var thread: UInt64? {
        if case .present(_, let thread) = block { thread } else { nil }
    }

    /// Whether the queue may have room for another block beside those that run.
    var hasRoom: Bool { blockCount < room }

    /// Learns how long the target queue has taken to start the lane's block, which was dispatched at a time: until the
    /// latest other block of the lane returned, that is no fault of the queue.
    ///
    /// A block that comes as soon as neither it nor another is waited for may have been behind a thread of its queue that
    /// stood in line, and would be so for longer each time: so the queue is waited for half as long then. After a block
    /// that came in vain, the next one is no longer behind what held that up: it may only teach more.
    package func adapt(
        toBlockDispatchedAt start: UInt64,
        startedAt time: UInt64,
        latestGivenUpAt givenUp: UInt64,
        _ policy: HandoffPolicy
    ) {
        let delay = time - max(start, latestReturn)
        let isHeldUpByLine = isOverdue && misses == 0 && time - givenUp < keeping(policy) / 4
        // A queue is waited for twice as long as it is late, and one that is too late no longer than one in time.
        adapt(to: isHeldUpByLine ? keeping(policy) / 4 : max(delay, misses > 0 ? self.delay : 0))
    }

    /// Learns how long the target queue takes to start a block.
    package func adapt(to delay: UInt64) {
        self.delay = delay
    }

    /// Learns what is known of the target queue.
    package func adapt(to delay: UInt64, room: Int) {
        adapt(to: delay)
        self.room = room
    }

    /// The block came for the front, and another command had the turn.
    package func missesTurn() {
        misses += 1
    }

    /// A command of the lane begins.
    package func takesTurn() {
        hasTurn = true
        misses = 0
    }

    /// For how long a free turn is kept for a block that has not started, in nanoseconds.
    ///
    /// For twice as long as the latest block took to start: so a queue that is slow, as a main thread may be, is
    /// served. A queue that takes longer than the limit is not waited for, until one of its blocks has come in vain:
    /// from then on the limit doubles each time that it is missed.
    package func keeping(_ policy: HandoffPolicy) -> UInt64 {
        if misses == 0, delay > policy.keepingLimit { return policy.keeping }
        return min(max(delay &* 2, policy.keeping), policy.keepingLimit << min(misses, policy.keepingDoublings))
    }

    var count: Int { unsafe commands.count }

    func count(of priority: CommandPriority) -> Int { unsafe commands.count(of: priority) }

    var isEmpty: Bool { unsafe commands.isEmpty }

    /// The command of the lane whose turn is next.
    package var first: PendingCommand? { unsafe commands.first }

    @inline(__always)
    var firstLink: PendingCommand.Link? { unsafe commands.firstLink }

    func first(of priority: CommandPriority?) -> PendingCommand? { unsafe commands.first(of: priority) }

    /// Takes all commands out, for good.
    func removeAll(_ state: PendingCommand.State) -> [PendingCommand] {
        var commands: [PendingCommand] = []
        while let command = first {
            command.leave(state)
            remove(command)
            commands.append(command)
        }
        return commands
    }

    /// Whether a command of another lane passes none of its own, if it goes before those of this lane that have its
    /// priority and came before it.
    ///
    /// - Parameters:
    ///   - command: The command of the other lane.
    ///   - limit: At how many commands it may look; those at which it has are taken off.
    /// - Returns: Whether none is of the same thread or task; `false` as well if there are too many.
    func mayBePassed(by command: PendingCommand, _ limit: inout Int) -> Bool {
        var link = unsafe commands.firstLink(of: command.priority)
        while let other = unsafe link {
            let mayPass = unsafe other._withUnsafeGuaranteedRef { other -> Bool? in
                if command.precedes(other) { return true }
                if limit == 0 || command.hasSubmitter(of: other) { return false }
                unsafe link = other.next
                return nil
            }
            if let mayPass { return mayPass }
            limit -= 1
        }
        return true
    }

    func append(_ command: PendingCommand) {
        isAsync = command.isAsync || isAsync && !isEmpty
        unsafe commands.append(command)
    }

    func remove(_ command: PendingCommand) { unsafe commands.remove(command) }
}

extension Lane: Ordered {
    package var place: Int? {
        get { unsafe placeInLine }
        set { unsafe placeInLine = newValue }
    }

    /// Whether its first command goes before that of another lane.
    package func precedes(_ other: Lane) -> Bool { first!.precedes(other.first!) }
}
