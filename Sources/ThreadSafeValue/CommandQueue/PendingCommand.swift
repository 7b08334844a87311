//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A command that waits for its turn: a thread that is parked, or work for a target queue.
///
/// One class for both, as the line only compares priority and order. `next` and `previous` belong to the
/// `PriorityFIFO` or `CommandRun` that holds the command: links without reference counts, as it keeps its commands alive.
///
/// `@unchecked Sendable`: the mutable members are touched under the line's lock, or by the one who took the command out.
@usableFromInline
@safe
package final class PendingCommand: @unchecked Sendable {
    package let priority: CommandPriority

    /// Whether the lane must see to other things after this command: `run` may answer anything but `.read` and `.changed`.
    let endsRun: Bool

    /// Whether it waits still, has begun or never will. Protected by the line's lock, but for a command that only its
    /// runner has.
    @exclusivity(unchecked) private(set) var state = State.waiting

    /// Whether it was taken out of the line to run, perhaps to be put back: then only its runner takes it out.
    @exclusivity(unchecked) private(set) var wasInRun = false

    /// The count of overtakings at which nobody had overtaken it yet: see `WaitingLine.append(_:)`.
    @exclusivity(unchecked) var overtakingBase: UInt32 = 0

    /// When it was appended to the line, in nanoseconds of `now()`, no two at the same time: decides among equals.
    @exclusivity(unchecked) private(set) var arrival: UInt64 = 0

    /// Where the thread of a `wait` command sleeps, which runs the command itself; `nil` for one of a target queue.
    package let parker: Parker?

    /// The lane of the target queue, which the line keeps as long as the command is in it; `nil` for a thread.
    package unowned(unsafe) let lane: Lane?

    /// What the lane runs once it has the turn, given the address of the value; without it, it tells that it was cancelled.
    ///
    /// It does not keep the command queue alive, so that submitting and running a command do not meet in its reference
    /// count. Somebody else always does: while a command waits, the turn is held, or someone is on the way to take it.
    @exclusivity(unchecked) private(set) var run: Work?

    // Unchecked: each access is one load or store, so none can overlap another on its thread.
    @exclusivity(unchecked) var next: Link?
    @exclusivity(unchecked) var previous: Link?

    /// A command of a thread.
    package init(_ priority: CommandPriority, of thread: Parker) {
        self.priority = priority
        endsRun = true
        parker = thread
        unsafe lane = nil
        unsafe run = nil
    }

    /// A command for a target queue.
    package init(_ priority: CommandPriority, in lane: Lane, endsRun: Bool, run: @escaping Work) {
        self.priority = priority
        self.endsRun = endsRun
        parker = nil
        unsafe self.lane = lane
        unsafe self.run = run
    }
}

extension PendingCommand {
    typealias Link = Unmanaged<PendingCommand>

    @usableFromInline
    package typealias Work = (UnsafeMutableRawPointer?) -> Ending

    /// Where a command is in its life.
    enum State {
        case waiting
        case started
        case cancelled
    }

    /// How a command that ran left the turn.
    @usableFromInline
    package enum Ending {
        /// It is complete and has changed nothing; the turn may go on.
        case read
        /// As `read`, and once the turn has gone on the closure tells its caller.
        case readThen(() -> Void)
        /// It is complete and may have changed the value.
        case changed
        /// As `changed`, and once the turn has gone on the closure tells its caller.
        case changedThen(() -> Void)
        /// It goes on without a thread: whoever completes it gives the turn back.
        case kept

        var isChange: Bool {
            switch self {
            case .changed, .changedThen: true
            case .read, .readThen, .kept: false
            }
        }
    }

    /// The line has taken the command in.
    func append(at time: UInt64) {
        unsafe arrival = time
    }

    func runs(in other: Lane) -> Bool { unsafe lane === other }

    /// The state, under the line's lock.
    var currentState: State { unsafe state }

    /// The line has handed the command to who runs it.
    func becomePartOfRun() {
        unsafe wasInRun = true
    }

    /// The command begins, unless it was cancelled.
    func start() -> Bool {
        guard unsafe state == .waiting else { return false }
        unsafe state = .started
        return true
    }

    /// The command will not begin, unless it has.
    func cancel() -> Bool {
        guard unsafe state == .waiting else { return false }
        unsafe state = .cancelled
        return true
    }

    /// Lets go of the work, for whoever cancelled the command.
    func takeWork() -> Work? {
        defer { unsafe run = nil }
        return unsafe run
    }

    /// Whether this command goes before `other`.
    func precedes(_ other: PendingCommand) -> Bool {
        priority == other.priority ? unsafe arrival < other.arrival : priority > other.priority
    }
}
