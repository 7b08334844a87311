//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// Where a command for a target queue is in its life.
public enum CommandState: UInt64, Sendable {
    /// The command was accepted and waits for its turn.
    case waiting
    /// The command has its turn: its closure is about to be called, or runs, or `done` is still to be called.
    case running
    /// The command is over.
    case finished
    /// The command was cancelled before its turn came.
    case cancelled
    /// The command was not accepted, or its suspended value went away.
    case refused
}

/// A command for a target queue, as its caller has described it: with what it runs, and whom it tells.
@usableFromInline protocol SubmittedCommand {
    /// The command does not run, or was never completed.
    ///
    /// - Returns: The call that tells the caller why it does not run.
    mutating func fail(_ error: QueueSafeValueError) -> Notification?

    /// The command has run: lets go of all that the closure captured, and tells the caller.
    mutating func tell()
}

/// A command for a target queue, from its call until all are told of its end.
///
/// It is one object: the memory behind its own members keeps the `SubmittedCommand`.
@safe @usableFromInline final class PendingCommand: ManagedBuffer<PendingCommand.Members, UInt64>, Linked {
    // There may be a million: they are as small as they can be.
    @safe @usableFromInline struct Members {
        /// Takes a step of the submitted command. It goes away with that: a handle keeps nothing. It stands first, because
        /// the thread sanitizer takes a call that changes a member in place for an access to the first one.
        var takeStep: TakeStep?

        /// The state, whether a task awaits the end, and the priority.
        var bits = AtomicWord.zero

        // What takes the command out of `waiting` has `takeStep`, and the memory behind.

        /// When it came: decides among equals. It never changes once the command is in line.
        var arrival: UInt64 = 0

        /// The command behind it, for the list in which it stands.
        var next: Unmanaged<PendingCommand>?

        /// The answer of the closure, if there is more than nothing, or why it failed: a `CommandAnswer`.
        var answer: AnyObject?

        /// The calls that tell of its end, each with the place where a thread sleeps until then. The lock of the line
        /// guards them.
        var awaiting: [(tell: Notification, parker: Parker?)] = []
    }

    deinit { end() }
}

extension PendingCommand {
    /// What becomes of the submitted command.
    @safe @usableFromInline enum Step {
        case run(Unmanaged<AnyObject>, UnsafeMutablePointer<CommandEnding>)
        case fail(QueueSafeValueError, UnsafeMutablePointer<Notification?>)
        case end(tells: Bool)
    }

    /// Takes a step of the submitted command, given the memory of that.
    @usableFromInline typealias TakeStep = (Step, UnsafeMutableRawPointer) -> Void

    /// Creates a command.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - submitted: The command as its caller described it.
    ///   - run: Runs that with the turn.
    /// - Returns: The command, which waits.
    @inlinable @_transparent static func make<Submitted: SubmittedCommand, Value>(
        _ priority: CommandPriority,
        _ submitted: consuming Submitted,
        _ run: @escaping (inout Submitted, CommandQueue<Value>) -> CommandEnding
    ) -> PendingCommand {
        // A place for it may begin behind the start of the memory.
        let size = MemoryLayout<Submitted>.size + max(MemoryLayout<Submitted>.alignment, 8) - 1
        let command = unsafe make(priority, size: size) { step, memory in
            let place = unsafe memory.alignedUp(for: Submitted.self).assumingMemoryBound(to: Submitted.self)
            switch step {
            case .run(let storage, let ending):
                unsafe storage._withUnsafeGuaranteedRef { storage in
                    unsafe ending.initialize(to: run(&place.pointee, CommandQueue(of: storage)))
                }
            case .fail(let error, let refusal): unsafe refusal.initialize(to: place.pointee.fail(error))
            case .end(let tells):
                if tells { unsafe place.pointee.tell() }
                _ = unsafe place.move()
            }
        }
        unsafe command.memory.alignedUp(for: Submitted.self).initializeMemory(as: Submitted.self, to: submitted)
        return command
    }

    @usableFromInline
    static func make(_ priority: CommandPriority, size: Int, _ takeStep: __owned @escaping TakeStep) -> PendingCommand {
        let made = create(minimumCapacity: size / 8) { _ in Members() }
        let command = unsafe unsafeDowncast(made, to: PendingCommand.self)
        unsafe command.members.takeStep = consume takeStep
        command.word.store(priority.rawValue << priorityPlace)
        return command
    }

    /// Where the submitted command is.
    @usableFromInline var memory: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(elementsPlace) }
}

/// How the closure of a command has left the turn.
@usableFromInline struct CommandEnding {
    /// Whether the value may have changed.
    @usableFromInline var isChange: Bool

    /// Whether the caller is to be told, once the turn is free.
    @usableFromInline var tells: Bool

    /// The answer of the closure, if there is more than nothing, or why it failed: a `CommandAnswer`.
    @usableFromInline var answer: AnyObject?

    /// The command has the turn until it is completed. The block calls this after its lane has left the turn, and
    /// passes a closure that takes the reason why the command failed, if it did.
    @usableFromInline var detach: ((@escaping (QueueSafeValueError?) -> Void) -> Void)?

    @inlinable init(isChange: Bool, tells: Bool = false, failure: QueueSafeValueError? = nil) {
        (self.isChange, self.tells) = (isChange, tells)
        answer = failure.map { CommandAnswer<Void>(.failure($0)) }
    }
}

/// A call to make without the turn: it tells a caller or listeners. Its release may run any code.
// A structure, as an optional closure would be one more object.
@usableFromInline struct Notification {
    let perform: () -> Void

    @usableFromInline init(_ perform: @escaping () -> Void) { self.perform = perform }
}

extension PendingCommand {
    private var word: AtomicWord { unsafe AtomicWord(headerPlace.pointer(to: \.bits).unsafelyUnwrapped) }

    var members: Members {
        unsafeAddress { unsafe UnsafePointer(headerPlace) }
        unsafeMutableAddress { unsafe headerPlace }
    }

    // The place of this member alone, for the thread sanitizer.
    private var awaiting: UnsafeMutablePointer<[(tell: Notification, parker: Parker?)]> {
        unsafe headerPlace.pointer(to: \.awaiting).unsafelyUnwrapped
    }

    /// The command behind it.
    var next: Unmanaged<PendingCommand>? {
        get { unsafe members.next }
        set { unsafe members.next = newValue }
    }

    /// Where the command is, with one step more than its handle shows.
    enum Stage: UInt64 {
        case waiting, running, finished, cancelled, refused
        /// A block is about to begin the command, unless it is cancelled, or the line has changed.
        case claimed
    }

    private static var stageMask: UInt64 { 0b111 }
    private static var awaitedBit: UInt64 { 1 << 3 }
    private static var priorityPlace: UInt64 { 4 }

    /// Where the command is in its life, as its handle shows it.
    var state: CommandState { CommandState(rawValue: word.loadAcquiring() & Self.stageMask) ?? .running }

    /// Whether the command has not begun, and may still be cancelled.
    var isPending: Bool { Self.isPending(word.load()) }

    private static func isPending(_ bits: UInt64) -> Bool {
        bits & stageMask == Stage.waiting.rawValue || bits & stageMask == Stage.claimed.rawValue
    }

    var priority: CommandPriority { CommandPriority(rawValue: word.load() >> Self.priorityPlace)! }

    /// Whether a task awaits the end.
    var isAwaited: Bool { word.load() & Self.awaitedBit != 0 }

    /// Changes the word, if there is another one to put there. Of several threads that try, one does.
    ///
    /// - Returns: Whether this call did.
    private func update(_ change: (UInt64) -> UInt64?) -> Bool {
        while true {
            let seen = word.load()
            guard let new = change(seen) else { return false }
            if word.exchangeReleasing(seen, for: new) { return true }  // fault: order: a command is over
        }
    }

    func move(_ old: Stage, to new: Stage) -> Bool {
        update { $0 & Self.stageMask == old.rawValue ? $0 & ~Self.stageMask | new.rawValue : nil }
    }

    /// Ends the command, unless it has begun.
    ///
    /// - Returns: Whether this call did.
    func endBeforeItBegins(as state: CommandState) -> Bool {
        update { Self.isPending($0) ? $0 & ~Self.stageMask | state.rawValue : nil }
    }

    /// Changes the priority, unless the command has begun. Under the lock of the line.
    ///
    /// - Returns: Whether it did.
    func setPriority(_ priority: CommandPriority) -> Bool {
        let bits = priority.rawValue << Self.priorityPlace
        return update { Self.isPending($0) ? $0 & (Self.stageMask | Self.awaitedBit) | bits : nil }
    }

    /// Somebody is to be told when the command is over. Under the lock of the line.
    ///
    /// - Returns: `false` if it is over already.
    func notifyAtEnd(_ notification: Notification, _ parker: Parker?) -> Bool {
        let isToCome = update { seen in
            let isRunning = seen & Self.stageMask == Stage.running.rawValue
            return isRunning || Self.isPending(seen) ? seen | Self.awaitedBit : nil
        }
        if isToCome { unsafe awaiting.pointee.append((notification, parker)) }
        return isToCome
    }

    /// A thread waits no more. Under the lock of the line.
    func forget(_ parker: Parker) { unsafe awaiting.pointee.removeAll { $0.parker === parker } }

    /// Runs the command with the turn.
    func run(_ storage: Unmanaged<AnyObject>) -> CommandEnding { unsafe answer(of: { unsafe .run(storage, $0) }) }

    /// The command has run: notes how. With the turn.
    func finish(_ answer: AnyObject?) {
        members.answer = answer
        _ = move(.running, to: .finished)
    }

    /// The command does not run, or was never completed.
    ///
    /// - Returns: The call that tells the caller why it does not run.
    @discardableResult
    func fail(_ error: QueueSafeValueError) -> Notification? { unsafe answer(of: { unsafe .fail(error, $0) }) }

    /// Takes a step that has an answer.
    private func answer<Answer>(of step: (UnsafeMutablePointer<Answer>) -> Step) -> Answer {
        unsafe withUnsafeTemporaryAllocation(of: Answer.self, capacity: 1) { answer in
            unsafe members.takeStep!(step(answer.baseAddress!), memory)
            return unsafe answer.moveElement(from: 0)
        }
    }

    private func end() { unsafe headerPlace.pointee.takeStep.take()?(.end(tells: state == .finished), memory) }

    /// The command is over, and the turn is free: lets go of all that the closure captured, and tells its caller and
    /// the tasks that await the end. Each may run any code.
    func releaseAndNotify(_ lane: Lane) {
        end()
        if !isAwaited { return }
        let awaiting = lane.turns.withLine { _ in unsafe self.awaiting.pointee.drain() }
        for one in awaiting where one.parker != nil { one.tell.perform() }
        // Resuming a task may wait for another one that is to be resumed.
        nonisolated(unsafe) let tasks = awaiting.filter { $0.parker == nil }
        for index in unsafe tasks.indices.dropLast() { awaitedTarget.async { unsafe tasks[index].tell.perform() } }
        unsafe tasks.last?.tell.perform()
    }
}
