//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A command for a target queue.
///
/// One object with the word of its state behind it. The header is guarded by the lock of the line while the command
/// waits; whatever changes the state to another one then has it.
@usableFromInline
@safe
final class PendingCommand: ManagedBuffer<PendingCommand.Header, AtomicWord.Storage> {
    /// What a command is made of.
    @safe
    @usableFromInline
    struct Header {
        let priority: CommandPriority

        /// The commands of its target queue, which keep it while it waits. Set when it is accepted.
        var lane: Lane?

        /// When it came: decides among equals.
        var arrival: UInt64 = 0

        /// The command behind it in its lane.
        var next: PendingCommand?

        /// What the lane runs. Gone once the command is over, so that a handle keeps nothing.
        var work: Work?

        /// What its closure returned, in a `CommandAnswer`, if that is more than nothing.
        var answer: AnyObject?

        /// Why there is no answer.
        var failure: QueueSafeValueError?

        /// The tasks that await its end. Guarded by the lock of the line.
        var awaiting: [UnsafeContinuation<Void, Never>]?
    }

    /// Runs a command with the turn, given the storage of its value, or tells its caller why it does not run.
    @usableFromInline
    typealias Work = (Result<AnyObject, QueueSafeValueError>) -> Ending

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
        var tell: (() -> Void)?

        @usableFromInline
        init(
            isChange: Bool,
            failure: QueueSafeValueError? = nil,
            answer: AnyObject? = nil,
            tell: (() -> Void)? = nil
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

    static func make(_ priority: CommandPriority, work: consuming @escaping Work) -> PendingCommand {
        let header = unsafe Header(priority: priority, work: work)
        let buffer = create(minimumCapacity: 1) { _ in header }
        // `create` makes an object of the class that it is called on.
        let command = unsafe unsafeDowncast(buffer, to: PendingCommand.self)
        unsafe command.word.storage.initialize(to: AtomicWord.zero)
        return command
    }
}

extension PendingCommand {
    /// The `State`, and whether a task awaits the end.
    private var word: AtomicWord { unsafe withUnsafeMutablePointerToElements { unsafe AtomicWord($0) } }

    private static var awaitedBit: UInt64 { 1 << 3 }

    var priority: CommandPriority { header.priority }

    var arrival: UInt64 { header.arrival }

    /// Not before it is accepted.
    var lane: Lane { header.lane! }

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
        unsafe header.awaiting = (header.awaiting ?? []) + [continuation]
        return true
    }

    /// What runs the command, or tells its caller why it does not.
    func run(_ turn: Result<AnyObject, QueueSafeValueError>) -> Ending {
        header.work?(turn) ?? .complete(Completed(isChange: false))
    }

    /// Lets go of all that the closure captured, which may run any code.
    func dropWork() {
        let work = header.work.take()
        withExtendedLifetime(work) {}
    }
}

extension PendingCommand {
    /// The command has run: notes how. With the turn.
    func finish(_ completed: Completed) {
        header.failure = completed.failure
        header.answer = completed.answer
        _ = move(.running, to: .finished)
    }

    /// The command does not run: what tells its caller why.
    func refusal(_ error: QueueSafeValueError) -> (() -> Void)? {
        guard case .complete(let completed) = run(.failure(error)) else { return nil }
        return completed.tell
    }

    /// Resumes the tasks that await the end, once the command is over and the turn is free.
    func resumeAwaiting() {
        if !isAwaited { return }
        let awaiting = unsafe lane.turns.withLine { _ in unsafe header.awaiting.take() }
        for unsafe continuation in unsafe awaiting ?? [] { unsafe continuation.resume() }
    }
}

/// Commands in the order in which they came. It keeps them alive, and must be empty when it goes away.
struct CommandFIFO {
    private(set) var first: PendingCommand?
    private unowned(unsafe) var last: PendingCommand?

    private(set) var count = 0
}

extension CommandFIFO {
    mutating func append(_ command: PendingCommand) {
        if first == nil { first = command } else { unsafe last!.header.next = command }
        unsafe last = command
        count += 1
    }

    /// Puts a command back before all others.
    mutating func prepend(_ command: PendingCommand) {
        if first == nil { unsafe last = command }
        command.header.next = first
        first = command
        count += 1
    }

    mutating func removeFirst() -> PendingCommand? {
        guard let command = first else { return nil }
        first = command.header.next.take()
        count -= 1
        return command
    }
}
