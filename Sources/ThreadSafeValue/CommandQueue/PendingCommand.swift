//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A command that waits for its turn: a thread that is parked, or work for a target queue.
///
/// One class for both, as the line only compares priority and arrival. `next` and `previous` belong to the
/// `PriorityFIFO` or `Batch` that holds the command: links without reference counts, as it keeps its commands alive.
///
/// `@unchecked Sendable`: the mutable members are touched under the lock of the line, or by whoever took the command
/// out.
@usableFromInline
@safe
package final class PendingCommand: @unchecked Sendable {
    // Unchecked: each access is one load or store, so none can overlap another on its thread.

    /// How early it gets its turn. Changes only while a thread's command is in no line.
    @exclusivity(unchecked) private var urgency: CommandPriority

    @exclusivity(unchecked) private(set) var state = State.waiting

    /// Whether the thread looks for the turn once more before it parks: nobody need wake it.
    @exclusivity(unchecked) private var spinning = false

    /// Whether a block of its queue only starts the task that takes the turn: see `TaskBlock`.
    let isAsync: Bool

    /// Who has submitted it: see `Submitter`. 0 for a thread.
    private let submitter: UInt32

    /// When it was appended to the line, in nanoseconds of `now()`, no two at the same time: decides among equals.
    @exclusivity(unchecked) private(set) var arrival: UInt64 = 0

    /// Where the thread of a `wait` command sleeps, which runs the command itself; `nil` for one of a target queue.
    package let parker: Parker?

    /// The lane of the target queue, which the line keeps as long as the command is in it; `nil` for a thread.
    @exclusivity(unchecked) private var laneLink: Unmanaged<Lane>?

    /// The lane whose block the thread runs; changed by that thread alone, while it is in no line.
    @exclusivity(unchecked) private var blockLink: Unmanaged<Lane>?

    /// What the lane runs. Gone once the command is over, so that a handle keeps nothing.
    ///
    /// It does not keep the command queue alive, so that submitting and running a command do not meet in its reference
    /// count. Invariant (liveness): while a command waits and the value is not suspended, a running thread has the
    /// turn, or the successor is on its way; both keep the queue.
    @exclusivity(unchecked) private var work: Work?

    @exclusivity(unchecked) var next: Link?
    @exclusivity(unchecked) var previous: Link?

    /// The command of a thread.
    package init(of thread: Parker) {
        unsafe urgency = .lowest
        parker = thread
        isAsync = false
        submitter = 0
        unsafe laneLink = nil
        unsafe blockLink = nil
        unsafe work = nil
    }

    /// A command for a target queue.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - submitter: The identity of who submits it.
    ///   - isAsync: Whether it needs a task.
    ///   - work: What the lane runs.
    package init(
        _ priority: CommandPriority,
        by submitter: UInt32 = 0,
        isAsync: Bool = false,
        work: consuming @escaping Work
    ) {
        unsafe urgency = priority
        self.submitter = submitter
        parker = nil
        self.isAsync = isAsync
        unsafe laneLink = nil
        unsafe blockLink = nil
        unsafe self.work = work
    }
}

extension PendingCommand {
    typealias Link = Unmanaged<PendingCommand>

    /// Runs a command with the turn, given the storage of its queue, or tells its caller why it does not run. Given a
    /// `TaskBlock`, it starts the task of that, without the turn.
    @usableFromInline
    package typealias Work = (Result<AnyObject, QueueSafeValueError>) -> Ending

    /// Where a command is in its life.
    enum State {
        case waiting
        /// Only of a target queue: the command of a thread keeps `waiting` when it has the turn.
        case started
        case cancelled
        /// Its suspended value went away.
        case refused
    }

    /// How a command that ran left the turn.
    @usableFromInline
    package enum Ending {
        /// The command is complete and the turn is still its lane's; `tell` is to be called once the turn is free.
        case complete(isChange: Bool, tell: (() -> Void)?)
        /// The command goes on without a thread: whoever completes it gives the turn back.
        case detached
    }

    package var priority: CommandPriority { unsafe urgency }

    /// The line takes the command in.
    func append(to lane: Lane? = nil, at time: UInt64) {
        unsafe laneLink = lane.map { unsafe .passUnretained($0) }
        unsafe arrival = time
    }

    /// A thread is about to wait.
    package func reuse(for priority: CommandPriority) {
        unsafe state = .waiting
        unsafe spinning = false
        unsafe urgency = priority
    }

    var isSpinning: Bool { unsafe spinning }

    /// The thread stands in line, and does not park yet.
    func spins() {
        unsafe spinning = true
    }

    /// The thread is about to park.
    package func parks() {
        unsafe spinning = false
    }

    package var lane: Lane? { unsafe laneLink?.takeUnretainedValue() }

    /// The lane whose block the thread of a `wait` command runs.
    package var block: Lane? {
        get { unsafe blockLink?.takeUnretainedValue() }
        set { unsafe blockLink = newValue.map { unsafe .passUnretained($0) } }
    }

    /// The thread of a `wait` command, as the holder of a turn.
    package var thread: UInt64? { parker?.thread }

    /// The lane or the thread that takes the turn for the command, as a number.
    var successorIdentity: UInt {
        unsafe UInt(bitPattern: laneLink?.toOpaque() ?? Unmanaged.passUnretained(self).toOpaque())
    }

    // Without counting references.
    func runs(in lane: Lane) -> Bool { unsafe laneLink?.toOpaque() == Unmanaged.passUnretained(lane).toOpaque() }

    /// The command begins, or never will. Only a command that waits does.
    func leave(_ state: State) {
        unsafe self.state = state
    }

    var isWaiting: Bool { unsafe state == .waiting }

    /// The state, under the lock of the line, or of the `QueueReference` once the queue has gone.
    var currentState: State { unsafe state }

    func run(_ turn: Result<AnyObject, QueueSafeValueError>) -> Ending {
        unsafe work?(turn) ?? .complete(isChange: false, tell: nil)
    }

    /// What runs the command, which waits. Under the lock of the line.
    var waitingWork: Work? { unsafe work }

    /// Lets go of all that the closure captured, which may run any code.
    func dropWork() {
        unsafe work = nil
    }

    /// What tells the caller of a command that does not run why, on its target queue; `nil` if nobody is left to be
    /// told there.
    func refusal(_ error: QueueSafeValueError) -> (() -> Void)? {
        guard case .complete(_, let tell) = run(.failure(error)) else { return nil }
        return tell
    }

    /// Whether this command, which comes after `other`, goes behind it.
    func isBehind(_ other: Link) -> Bool { unsafe other._withUnsafeGuaranteedRef { $0.priority >= priority } }

    /// Whether the same thread or task has submitted this command and `other`.
    func hasSubmitter(of other: PendingCommand) -> Bool { Submitter.isSame(submitter, other.submitter) }

    /// Whether this command goes before `other`.
    func precedes(_ other: PendingCommand) -> Bool {
        priority == other.priority ? unsafe arrival < other.arrival : priority > other.priority
    }
}

extension PendingCommand.Ending {
    /// The command is complete, and nobody is told of its result. An error goes away once the turn is free, as what it
    /// keeps may use the value.
    @inlinable
    static func complete(isChange: Bool, keeping result: Result<Void, QueueSafeValueError>) -> Self {
        guard case .failure(let error) = result else { return .complete(isChange: isChange, tell: nil) }
        return .complete(isChange: isChange) { withExtendedLifetime(error) {} }
    }
}

/// Commands in order of priority, and within a priority in order of arrival. Every operation is O(1).
///
/// One doubly linked list a priority, through the commands themselves, so that a command is one allocation and can
/// leave from the middle. A plain struct without locks: whoever owns it protects it, and never copies it. It keeps the
/// commands in it alive, and must be empty when it goes away.
package struct PriorityFIFO {
    @safe
    struct List {
        fileprivate(set) var first: PendingCommand.Link?
        fileprivate(set) var last: PendingCommand.Link?
        var count = 0
    }

    /// One list for each level of priority, made with the first command; a bit of `occupied` for each that is not
    /// empty.
    private(set) var lists: [List] = []
    private var occupied: UInt64 = 0

    package private(set) var count = 0

    package init() {}
}

extension PriorityFIFO {
    package var isEmpty: Bool { occupied == 0 }

    package func count(of priority: CommandPriority) -> Int {
        lists.isEmpty ? 0 : lists[Int(priority.level)].count
    }

    /// The command whose turn is next.
    package var first: PendingCommand? { unsafe firstLink?.takeUnretainedValue() }

    @inline(__always)
    var firstLink: PendingCommand.Link? {
        isEmpty ? nil : unsafe lists[firstLevel].first
    }

    /// The command of a priority that came first.
    func firstLink(of priority: CommandPriority) -> PendingCommand.Link? {
        lists.isEmpty ? nil : unsafe lists[Int(priority.level)].first
    }

    /// The command of a priority, or of any, that came first.
    package func first(of priority: CommandPriority?) -> PendingCommand? {
        guard let priority else { return first }
        return unsafe firstLink(of: priority)?.takeUnretainedValue()
    }

    /// Adds a command behind all others of its priority.
    package mutating func append(_ command: PendingCommand) {
        if lists.isEmpty { lists = Array(repeating: List(), count: Int(CommandPriority.highest.level) + 1) }
        let level = Int(command.priority.level)
        let link = unsafe Unmanaged.passRetained(command)
        let last = unsafe lists[level].last
        unsafe command.previous = last
        unsafe lists[level].last = link
        if let last = unsafe last {
            unsafe last._withUnsafeGuaranteedRef { unsafe $0.next = link }
        } else {
            unsafe lists[level].first = link
            occupied |= 1 << UInt64(level)
        }
        lists[level].count += 1
        count += 1
    }

    /// How many commands there are of the priority of the first.
    var firstCount: Int { isEmpty ? 0 : lists[firstLevel].count }

    private var firstLevel: Int { UInt64.bitWidth - 1 - occupied.leadingZeroBitCount }

    /// Takes out the first commands, all of one priority, and leaves them alive and linked.
    mutating func dropFirst(_ number: Int, _ body: (PendingCommand) -> Void) {
        if number == 0 { return }
        let level = firstLevel
        for _ in 0..<number {
            unsafe lists[level].first!._withUnsafeGuaranteedRef { command in
                body(command)
                unsafe lists[level].first = command.next
            }
        }
        if let first = unsafe lists[level].first {
            unsafe first._withUnsafeGuaranteedRef { unsafe $0.previous = nil }
        } else {
            unsafe lists[level].last = nil
            occupied &= ~(1 << UInt64(level))
        }
        lists[level].count -= number
        count -= number
    }

    /// Takes out a command, wherever it stands. It must be in this FIFO.
    package mutating func remove(_ command: PendingCommand) {
        let level = Int(command.priority.level)
        let before = unsafe command.previous
        let behind = unsafe command.next
        unsafe command.previous = nil
        unsafe command.next = nil
        if let before = unsafe before {
            unsafe before._withUnsafeGuaranteedRef { unsafe $0.next = behind }
        } else {
            unsafe lists[level].first = behind
        }
        if let behind = unsafe behind {
            unsafe behind._withUnsafeGuaranteedRef { unsafe $0.previous = before }
        } else {
            unsafe lists[level].last = before
        }
        if unsafe lists[level].first == nil { occupied &= ~(1 << UInt64(level)) }
        lists[level].count -= 1
        count -= 1
        unsafe Unmanaged.passUnretained(command).release()
    }
}
