//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

/// A value and the turns to use it: whoever has the turn has the value to itself.
///
/// *The turn is one atomic word* (`TurnWord`). With nobody else there, taking it and giving it back is one
/// compare-and-swap each, in the caller's own code. Everything else goes through the line (`WaiterQueue`), under its
/// lock:
///
/// - A thread that finds the turn taken spins for a moment, then stands in line and parks. When it is woken it takes
///   the turn and runs its own closure on its own thread. Turns are queued, not closures.
/// - A command for a target queue waits in a `Lane`, whose block takes the turn on that queue.
/// - A release with somebody in line chooses the front as the successor, and wakes its thread or dispatches its block,
///   once: while a successor is on its way, further releases wake nobody. Until it is there the turn is free: a
///   newcomer may barge if its priority is higher than that of all who wait, or the same before the `BargingDeadline`.
///
/// The turn is freed in the same exchange that publishes who waits. Nobody holds it but a closure that runs, an async
/// body, or a manual command between the end of its closure and its `done`.
@safe
@usableFromInline
struct CommandQueue<Value> {
    @usableFromInline
    let storage: CommandQueueStorage<Value>

    @inlinable
    init(storage: CommandQueueStorage<Value>) {
        self.storage = storage
    }

    /// The queue that has given its turn to a command: see `PendingCommand.Work`.
    @inlinable
    init(of storage: AnyObject) {
        self.storage = unsafe unsafeDowncast(storage, to: CommandQueueStorage<Value>.self)
    }

    /// Creates a queue around a value.
    ///
    /// - Parameters:
    ///   - value: What to queue for.
    ///   - policy: The bounds that keep it fast.
    ///   - limit: How many commands of target queues may wait in line.
    init(_ value: Value, policy: HandoffPolicy = HandoffPolicy(), limit: Int = .max) {
        storage = .make(value, policy: policy, limit: limit)
    }
}

// The value is reached only by whoever has the turn, all else by atomics or under the lock of the line. What goes in
// and out crosses threads: the containers ask for `Sendable` where that matters.
extension CommandQueue: @unchecked Sendable {}

extension CommandQueue {
    @inlinable
    var word: AtomicWord { storage.word }

    @inlinable
    var value: UnsafeMutablePointer<Value> { unsafe storage.value }

    /// Gives the turn back to whoever is next.
    ///
    /// - Parameters:
    ///   - holder: Whoever has the turn.
    ///   - isChange: Whether the value may have changed, and nobody was told yet.
    @inlinable
    func giveTurnBack(of holder: UInt64, afterChange isChange: Bool) {
        // The word is an address, which alone keeps nothing alive.
        withExtendedLifetime(storage) {
            if word.exchangeReleasing(holder, for: TurnWord.idle) { return }
            storage.turns.giveTurnBack(afterChange: isChange)
        }
    }

    /// Takes the turn on the calling thread, runs `body` with the value and gives the turn back.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - timeout: For how long it may wait for the turn, in nanoseconds.
    ///   - isChange: Whether `body` may change the value.
    ///   - body: What to do with the value.
    /// - Returns: What `body` returned or threw, or why there was no turn.
    @inlinable
    func perform<Success>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        isChange: Bool,
        _ body: (inout Value) throws -> Success
    ) -> Result<Success, QueueSafeValueError> {
        let thread = TurnWord.currentThread
        if !word.exchangeAcquiring(TurnWord.idle, for: thread), let failure = takeTurn(priority, timeout) {
            return .failure(failure)
        }
        return runAndGiveTurnBack(of: thread, isChange: isChange, body)
    }

    /// Runs `body` with the turn of the calling thread, and gives that back before the result can go away.
    @inlinable
    func runAndGiveTurnBack<Success>(
        of thread: UInt64,
        isChange: Bool,
        _ body: (inout Value) throws -> Success
    ) -> Result<Success, QueueSafeValueError> {
        scope {
            run(body)
        } end: {
            giveTurnBack(of: thread, afterChange: isChange)
        }
    }

    /// What `body` returns or throws with the value. Only with the turn.
    @inlinable
    func run<Success>(_ body: (inout Value) throws -> Success) -> Result<Success, QueueSafeValueError> {
        do {
            return .success(try unsafe body(&value.pointee))
        } catch {
            return .failure(.unexpected(error: error))
        }
    }
}

// Slow paths, none of which is generic but where the value itself matters.

extension CommandQueue {
    /// Calls `body` with all that does not ask for the value.
    @inlinable
    @inline(__always)
    func withTurnQueue<Answer>(_ body: (TurnQueue) -> Answer) -> Answer {
        withExtendedLifetime(storage) { body(storage.turns) }
    }

    /// Takes the turn on the calling thread, and parks it for as long as that takes.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - timeout: For how long it may wait, in nanoseconds; with 0 it only looks.
    /// - Returns: `nil` with the turn, or why there is none to be had.
    @inlinable
    func takeTurn(_ priority: CommandPriority, _ timeout: UInt64) -> QueueSafeValueError? {
        withTurnQueue { $0.takeTurn(priority, timeout) }
    }

    func takeTurn(_ priority: CommandPriority, until deadline: Deadline) -> QueueSafeValueError? {
        withTurnQueue { $0.takeTurn(priority, until: deadline) }
    }

    func tryToTakeTurn(_ priority: CommandPriority, _ backoff: Backoff, inTask: Bool = false) -> Attempt {
        withTurnQueue { $0.tryToTakeTurn(priority, backoff, inTask: inTask) }
    }

    func moveTurn(to holder: UInt64) {
        withTurnQueue { $0.moveTurn(to: holder) }
    }

    /// Puts a command in line for its target queue and returns at once: see `TurnQueue`.
    @inlinable
    func submit(
        _ priority: CommandPriority,
        in target: DispatchQueue,
        evenIfFull: Bool = false,
        work: @escaping PendingCommand.Work
    ) -> Result<CommandHandle, QueueSafeValueError> {
        withTurnQueue { $0.submit(priority, in: target, evenIfFull: evenIfFull, work: work) }
    }
}
