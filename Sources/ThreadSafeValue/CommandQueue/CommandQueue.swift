//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A value and the turns to use it: whatever has the turn has the value to itself.
///
/// *The turn is one atomic word* (`TurnWord`). With nobody else there, taking it and giving it back is one
/// compare-and-swap each, in the caller's own code. Everything else goes through the `TurnQueue`: threads wait in
/// `ThreadWaiter`, tasks in `TaskWaiter`, the commands for target queues in a `Lane` for each.
@safe @usableFromInline struct CommandQueue<Value> {
    @usableFromInline let storage: CommandQueueStorage<Value>

    /// The queue with this storage. A command knows that only as an object: see `PendingCommand.Step`.
    @inlinable init(of storage: AnyObject) {
        self.storage = unsafe unsafeDowncast(storage, to: CommandQueueStorage<Value>.self)
    }
}

// The value is reached only with the turn, all else by atomics or under the lock of the line. What goes in and out
// crosses threads: the containers ask for `Sendable` where that matters.
extension CommandQueue: @unchecked Sendable {}

extension CommandQueue {
    /// A command does this with the value.
    @usableFromInline typealias Body<Success> = (inout Value) throws -> Success

    /// The same with what completes the command.
    @usableFromInline
    typealias ManualBody<Success> = (inout Value, @escaping CommandCompletionClosure) throws -> Success

    @usableFromInline typealias Outcome<Success> = Result<Success, QueueSafeValueError>

    @inlinable @inline(__always) var word: AtomicWord { unsafe AtomicWord(storage.elementsPlace) }

    /// Where the value is: only with the turn.
    @inlinable @inline(__always) var value: UnsafeMutablePointer<Value> { unsafe storage.headerPlace }

    /// Takes the turn on the calling thread, which sleeps for as long as that takes.
    ///
    /// - Parameters:
    ///   - thread: The identity of the calling thread.
    ///   - priority: How early it gets its turn.
    ///   - timeout: For how long it may wait, in nanoseconds; with 0 it only looks.
    /// - Returns: `nil` with the turn, or why there is none to be had.
    @inlinable @_transparent
    func takeTurn(as thread: UInt64, _ priority: CommandPriority, _ timeout: UInt64) -> QueueSafeValueError? {
        unsafe schedulingPoint("wait for", storage, word.storage)
        return word.exchangeAcquiring(TurnWord.idle, for: thread) ? nil : takeTurnSlowly(priority, timeout)
    }

    /// Gives the turn back.
    ///
    /// - Parameters:
    ///   - holder: What has the turn.
    ///   - isChange: Whether the value may have changed.
    @inlinable @_transparent func giveTurnBack(of holder: UInt64, afterChange isChange: Bool) {
        if !word.exchangeReleasing(holder, for: TurnWord.idle) { giveTurnBackSlowly(afterChange: isChange) }
        // The word is an address, which alone keeps nothing alive.
        _fixLifetime(self)
    }

    /// Takes the turn on the calling thread, runs `body` with the value and gives the turn back.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - timeout: For how long it may wait for the turn, in nanoseconds.
    ///   - isChange: Whether `body` may change the value.
    ///   - body: What to do with the value.
    /// - Returns: What `body` returned or threw, or why there was no turn.
    @inlinable @_transparent func perform<Success>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        isChange: Bool,
        _ body: Body<Success>
    ) -> Outcome<Success> {
        let thread = currentThreadIdentity()
        if let failure = takeTurn(as: thread, priority, timeout) { return .failure(failure) }
        return runAndGiveTurnBack(of: thread, isChange: isChange, body)
    }

    /// Runs `body` with a turn, and gives that back before the result can go away.
    @inlinable @_transparent
    func runAndGiveTurnBack<Success>(of holder: UInt64, isChange: Bool, _ body: Body<Success>) -> Outcome<Success> {
        let result = run(body)
        giveTurnBack(of: holder, afterChange: isChange)
        _fixLifetime(result)
        return result
    }

    /// Runs `body` with the value, and returns its answer or its error. Only with the turn.
    @inlinable @_transparent func run<Success>(_ body: Body<Success>) -> Outcome<Success> {
        do {
            return .success(try unsafe body(&value.pointee))
        } catch {
            return .failure(.unexpected(error: error))
        }
    }

    // Slow paths, none of which is generic but where the value itself matters.

    /// Calls `body` with all that does not ask for the value.
    @inlinable @_transparent func withTurns<Answer>(_ body: (TurnQueue) -> Answer) -> Answer {
        defer { _fixLifetime(storage) }
        return unsafe storage.uncountedTurns._withUnsafeGuaranteedRef { body($0) }
    }

    /// Takes a turn that is not simply free.
    @inlinable @inline(never)
    func takeTurnSlowly(_ priority: CommandPriority, _ timeout: UInt64) -> QueueSafeValueError? {
        withTurns { $0.waitForTurn(priority, timeout) }
    }

    /// Gives back a turn for which something waits, or that of a value with listeners.
    @inlinable @inline(never) func giveTurnBackSlowly(afterChange isChange: Bool) {
        withTurns { turns in turns.releaseAndNotify(afterChange: isChange) { storage.recordChange() } }
    }

    /// Takes the turn when the value meets a condition, runs `body` with it and gives the turn back.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn, each time that it stands in line.
    ///   - timeout: For how long it may wait in all, in nanoseconds.
    ///   - isMet: Whether this is the value to wait for; called with the turn.
    ///   - body: What to do with the value.
    /// - Returns: What `body` returned or threw, or why there was no turn.
    @inlinable func perform<Success>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        when isMet: (Value) -> Bool,
        _ body: Body<Success>
    ) -> Outcome<Success> {
        // Before the first test, which may take long.
        let (thread, deadline) = (currentThreadIdentity(), Deadline(after: timeout))
        if let failure = takeTurn(as: thread, priority, timeout) { return .failure(failure) }
        while unsafe !isMet(value.pointee) {
            let failure = withTurns { $0.waitForTurn(priority, until: deadline, isWatching: true) }
            if let failure { return .failure(failure) }
        }
        // The test may have taken long.
        if let failure = withTurns({ $0.failure(at: deadline) }) { return .failure(failure) }
        return runAndGiveTurnBack(of: thread, isChange: true, body)
    }
}
