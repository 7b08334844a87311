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

/// A command for a target queue.
@safe @usableFromInline final class PendingCommand: Linked, @unchecked Sendable {
    /// Runs a command with the turn, given the storage of its value, or tells its caller why it does not run.
    @usableFromInline typealias Work = (Result<AnyObject, QueueSafeValueError>) -> CommandEnding

    // First, so that its address is known: the state, whether a task awaits the end, and the priority.
    private var bits = AtomicWord.zero

    // Guarded by the lock of the line while the command waits; whatever changes the state to another one then has them.
    // Not tracked, as the state of a waiter. There may be a million: each is as small as it can be.

    /// When it came: decides among equals.
    @exclusivity(unchecked) var arrival: UInt64 = 0

    /// The command behind it.
    @exclusivity(unchecked) var next: Unmanaged<PendingCommand>?

    /// The lane runs this. It goes away once the closure has returned, or is not to be called: a handle keeps nothing.
    @exclusivity(unchecked) var work: Work?

    /// The call that tells the caller. It goes away once the command is over, too.
    @exclusivity(unchecked) private var tell: Notification?

    /// The answer of the closure, if there is more than nothing, or why it failed: a `CommandAnswer`.
    @exclusivity(unchecked) private(set) var answer: AnyObject?

    /// The calls that tell of its end, each with the place where a thread sleeps until then. The lock of the line guards them.
    @exclusivity(unchecked) private var awaiting: [(tell: Notification, parker: Parker?)] = []

    init(_ priority: CommandPriority, _ work: @escaping Work) {
        unsafe self.work = work
        word.store(priority.rawValue << Self.priorityPlace)
    }
}

/// How the closure of a command has left the turn.
@usableFromInline struct CommandEnding {
    /// Whether the value may have changed.
    var isChange: Bool

    /// Why the command has no answer.
    var failure: QueueSafeValueError?

    /// The answer or the error of the closure of an `update`, in a `CommandAnswer`.
    var answer: AnyObject?

    /// The call that tells the caller, once the turn is free.
    var tell: Notification?

    /// The command has the turn until it is completed. The block calls this after its lane has left the turn, and
    /// passes a closure that takes the ending.
    var detach: Detach?

    @usableFromInline typealias Detach = (@escaping (CommandEnding) -> Void) -> Void

    @usableFromInline init(
        isChange: Bool,
        failure: QueueSafeValueError? = nil,
        answer: AnyObject? = nil,
        tell: Notification? = nil,
        detach: Detach? = nil
    ) {
        (self.isChange, self.failure, self.answer, self.tell, self.detach) = (isChange, failure, answer, tell, detach)
    }
}

/// A call to make without the turn: it tells a caller or listeners. Its release may run any code.
// A structure, as an optional closure would be one more object.
@usableFromInline struct Notification {
    let perform: () -> Void

    @usableFromInline init(_ perform: @escaping () -> Void) { self.perform = perform }
}

extension PendingCommand {
    private var word: AtomicWord { AtomicWord(firstIn: self) }

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
        if isToCome { unsafe awaiting.append((notification, parker)) }
        return isToCome
    }

    /// A thread waits no more. Under the lock of the line.
    func forget(_ parker: Parker) { unsafe awaiting.removeAll { $0.parker === parker } }

    /// Runs the command with the turn.
    func run(_ storage: AnyObject) -> CommandEnding { unsafe work!(.success(storage)) }

    /// The command has run: notes how. With the turn.
    func finish(_ ending: inout CommandEnding) {
        unsafe answer = ending.answer.take() ?? ending.failure.map { CommandAnswer<Void>(.failure($0)) }
        unsafe tell = ending.tell.take()
        _ = move(.running, to: .finished)
    }

    /// The command is over, and the turn is free: lets go of all that the closure captured, and tells its caller and
    /// the tasks that await the end. Each may run any code.
    func releaseAndNotify(_ lane: Lane) {
        unsafe work = nil
        unsafe tell.take()?.perform()
        if !isAwaited { return }
        let awaiting = lane.turns.withLine { _ in unsafe self.awaiting.drain() }
        for one in awaiting where one.parker != nil { one.tell.perform() }
        // Resuming a task may wait for another one that is to be resumed.
        nonisolated(unsafe) let tasks = awaiting.filter { $0.parker == nil }
        for index in unsafe tasks.indices.dropLast() { awaitedTarget.async { unsafe tasks[index].tell.perform() } }
        unsafe tasks.last?.tell.perform()
    }

    /// The command does not run.
    ///
    /// - Returns: What tells its caller why.
    func refuse(_ error: QueueSafeValueError) -> Notification? { unsafe work?(.failure(error)).tell }
}
