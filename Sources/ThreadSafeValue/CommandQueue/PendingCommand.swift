//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A command for a target queue.
@usableFromInline
@safe
final class PendingCommand: @unchecked Sendable {
    // First, so that its address is known.
    private var bits = AtomicWord.zero

    let priority: CommandPriority

    /// Guarded by the lock of the line while the command waits; whatever changes the state to another one then has them.
    @safe
    struct Fields {
        /// When it came: decides among equals.
        var arrival: UInt64 = 0

        /// The command behind it in a `CommandFIFO`.
        fileprivate var next: Unmanaged<PendingCommand>?

        /// What the lane runs. Gone once the command is over, so that a handle keeps nothing.
        fileprivate var work: Work?

        /// What its closure returned, in a `CommandAnswer`, if that is more than nothing.
        fileprivate(set) var answer: AnyObject?

        /// Why there is no answer.
        fileprivate(set) var failure: QueueSafeValueError?

        /// What tells its caller. Gone once the command is over, too.
        fileprivate var tell: Effect?

        /// The tasks that await its end. Guarded by the lock of the line.
        fileprivate var awaiting: [UnsafeContinuation<Void, Never>] = unsafe []
    }

    // The accesses are short and never overlap on a thread, so none is tracked.
    @exclusivity(unchecked) fileprivate var uncheckedFields: Fields

    @inline(__always)
    var fields: Fields {
        get { unsafe uncheckedFields }
        _modify { yield unsafe &uncheckedFields }
    }

    init(_ priority: CommandPriority, _ work: Work) {
        self.priority = priority
        unsafe uncheckedFields = Fields(work: work)
    }
}

extension PendingCommand {
    /// Runs a command with the turn, given the storage of its value, or tells its caller why it does not run.
    // In a structure, as an optional closure would be one more object.
    @usableFromInline
    struct Work {
        let run: (Result<AnyObject, QueueSafeValueError>) -> Ending

        @usableFromInline
        init(_ run: @escaping (Result<AnyObject, QueueSafeValueError>) -> Ending) {
            self.run = run
        }
    }

    /// How a command that ran left the turn.
    @usableFromInline
    enum Ending {
        /// The command is complete, and the turn is still its lane's; `tell` is to be called once the turn is free.
        case complete(Completed)
        /// The command has the turn until it is completed. To be called once its lane has let go of the turn, with what
        /// to do then, which gets the end of the command.
        case detached((@escaping (Completed) -> Void) -> Void)
    }

    /// What is left of a command whose closure has returned.
    @usableFromInline
    struct Completed {
        let isChange: Bool
        var failure: QueueSafeValueError?
        var answer: AnyObject?
        var tell: Effect?

        @usableFromInline
        init(
            isChange: Bool,
            failure: QueueSafeValueError? = nil,
            answer: AnyObject? = nil,
            tell: Effect? = nil
        ) {
            self.isChange = isChange
            self.failure = failure
            self.answer = answer
            self.tell = tell
        }
    }

    /// Where a command is in its life.
    enum State: UInt64 {
        case waiting, running, finished, cancelled, refused
    }
}

extension PendingCommand {
    /// The `State`, and whether a task awaits the end.
    private var word: AtomicWord { AtomicWord(firstIn: self) }

    private static var awaitedBit: UInt64 { 1 << 3 }

    // Member by member: a copy of all would count all references.

    var arrival: UInt64 { unsafe uncheckedFields.arrival }

    var answer: AnyObject? { unsafe uncheckedFields.answer }

    var failure: QueueSafeValueError? { unsafe uncheckedFields.failure }

    var state: State { State(rawValue: word.loadAcquiring() & ~Self.awaitedBit)! }

    /// Whether a task awaits the end.
    var isAwaited: Bool { word.load() & Self.awaitedBit != 0 }

    /// Changes the state. Of several threads that try, one does.
    ///
    /// - Returns: Whether it was the old one.
    func move(_ old: State, to new: State) -> Bool {
        while true {
            let seen = word.load()
            if seen & ~Self.awaitedBit != old.rawValue { return false }
            if word.exchange(seen, for: seen & Self.awaitedBit | new.rawValue) { return true }
        }
    }

    /// A task is to be resumed when the command is over. Under the lock of the line.
    ///
    /// - Returns: `false` if it is over already.
    func await(_ continuation: UnsafeContinuation<Void, Never>) -> Bool {
        while true {
            let seen = word.load()
            if seen & ~Self.awaitedBit > State.running.rawValue { return false }
            if word.exchange(seen, for: seen | Self.awaitedBit) { break }
        }
        unsafe fields.awaiting.append(continuation)
        return true
    }

    /// What runs the command, or tells its caller why it does not.
    func run(_ turn: Result<AnyObject, QueueSafeValueError>) -> Ending {
        unsafe uncheckedFields.work?.run(turn) ?? .complete(Completed(isChange: false))
    }

    /// The command has run: notes how. With the turn.
    func finish(_ completed: Completed) {
        fields.failure = completed.failure
        fields.answer = completed.answer
        fields.tell = completed.tell
        _ = move(.running, to: .finished)
    }

    /// The command is over, and the turn is free: lets go of all that the closure captured, and tells its caller and the
    /// tasks that await the end. Each may run any code.
    func letGo(_ lane: Lane) {
        // One that was cancelled has told already, or is about to.
        if state != .finished { return }
        fields.work = nil
        let tell = unsafe uncheckedFields.tell
        fields.tell = nil
        tell?.perform()
        resumeAwaiting(lane)
    }

    /// The command does not run.
    ///
    /// - Returns: What tells its caller why.
    func refuse(_ error: QueueSafeValueError) -> Effect? {
        guard case .complete(let completed) = run(.failure(error)) else { return nil }
        return completed.tell
    }

    /// The command does not run, and its caller is told.
    func letGoRefused(_ lane: Lane) {
        fields.work = nil
        resumeAwaiting(lane)
    }

    private func resumeAwaiting(_ lane: Lane) {
        if !isAwaited { return }
        let awaiting = unsafe lane.turns.withLine { _ in unsafe fields.awaiting.drain() }
        for unsafe continuation in unsafe awaiting { unsafe continuation.resume() }
    }
}

/// Commands in the order in which they came, linked through themselves. It keeps them alive, and must be empty when it
/// goes away.
@safe
struct CommandFIFO {
    private var head: Unmanaged<PendingCommand>?
    private var last: Unmanaged<PendingCommand>?

    private(set) var count = 0
}

extension CommandFIFO {
    var first: PendingCommand? { unsafe head?.takeUnretainedValue() }

    mutating func append(_ command: PendingCommand) {
        let link = unsafe Unmanaged.passRetained(command)
        if let last = unsafe last {
            unsafe last._withUnsafeGuaranteedRef { unsafe $0.fields.next = link }
        } else {
            unsafe head = link
        }
        unsafe last = link
        count += 1
    }

    /// Puts a command back before all others.
    mutating func prepend(_ command: PendingCommand) {
        let link = unsafe Unmanaged.passRetained(command)
        unsafe command.fields.next = head
        if count == 0 { unsafe last = link }
        unsafe head = link
        count += 1
    }

    mutating func removeFirst() -> PendingCommand? {
        guard let link = unsafe head else { return nil }
        let command = unsafe link.takeRetainedValue()
        unsafe head = command.uncheckedFields.next
        unsafe command.fields.next = nil
        if unsafe head == nil { unsafe last = nil }
        count -= 1
        return command
    }
}
