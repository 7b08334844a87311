//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Manual completion: the turn is kept after the closure has returned, until the command is completed.

extension CommandQueue {
    /// Takes the turn, runs `body` on the calling thread, and waits until the command is completed.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - timeout: For how long it may wait for the turn, in nanoseconds.
    ///   - isChange: Whether the command may change the value.
    ///   - body: Called with the value and what completes the command.
    /// - Returns: The value as `body` left it, or why the command failed.
    @inlinable
    func performManually(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        isChange: Bool,
        _ body: (inout Value, @escaping CommandCompletionClosure) throws -> Void
    ) -> Result<Value, QueueSafeValueError> {
        let thread = TurnWord.currentThread
        if !word.exchangeAcquiring(TurnWord.idle, for: thread), let failure = waitForTurn(priority, timeout) {
            return .failure(failure)
        }
        // The copy is made here and not on the thread that completes the command. Nothing can change the value before.
        let (result, completion) = hold { value, done in
            try body(&value, done)
            return value
        }
        guard let completion else {
            giveTurnBack(of: thread, afterChange: isChange)
            return result
        }
        return waitForEnd(consume completion, isChange: isChange).map(Result.failure) ?? result
    }

    /// Runs the closure of a command with the turn.
    ///
    /// - Returns: The result of the closure, and the end of the command if that is still to come.
    @inlinable
    func hold<Success>(
        _ body: (inout Value, @escaping CommandCompletionClosure) throws -> Success
    ) -> (Result<Success, QueueSafeValueError>, ManualCompletion?) {
        // When the caller lets go of it, only `done` keeps it. It is made to be shared.
        nonisolated(unsafe) let completion = ManualCompletion.make()
        let result = run { value in try body(&value) { unsafe completion.complete() } }
        // A command whose closure throws is over, completed or not.
        if case .failure = result { unsafe completion.complete() }
        return unsafe (result, completion.isComplete ? nil : completion)
    }

    /// Leaves the turn to a command that is not complete, and waits until it is.
    ///
    /// - Returns: Why the command failed, if it did.
    @usableFromInline
    @inline(never)
    func waitForEnd(_ completion: consuming ManualCompletion, isChange: Bool) -> QueueSafeValueError? {
        let ending = Ending()
        // The waiting thread keeps the storage, and no other does: it may be the only one that may let the value go.
        let turns = withTurns { $0 }
        turns.detachTurn()
        completion.closureReturned { failure in
            let delivery = turns.giveTurnBackToTell(afterChange: isChange)
            delivery?.perform()
            ending.set(failure)
            // At last: what it has pushed out of a buffer may wait, as it goes away, for the thread.
            withExtendedLifetime(delivery) {}
        }
        _ = consume completion
        return ending.wait()?.reported(for: Value.self, "a command with `done`")
    }
}

extension CommandQueue where Value: Sendable {
    /// Runs `body` with the turn of a lane.
    ///
    /// - Parameters:
    ///   - isChange: Whether the command may change the value.
    ///   - body: Called at once, with the value and what completes the command.
    ///   - tell: Called on the target queue with the result, when the command is completed and the turn is free.
    /// - Returns: How the closure left the turn.
    @inlinable
    func runManually(
        isChange: Bool,
        _ body: (inout Value, @escaping CommandCompletionClosure) throws -> Void,
        completion tell: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?
    ) -> PendingCommand.Ending {
        // Without a completion no copy: it would make the next change copy the value too.
        let (result, completion) = hold { value, done in
            try body(&value, done)
            return tell == nil ? nil : value
        }
        func completed(_ failure: QueueSafeValueError?) -> PendingCommand.Completed {
            let result = failure.map(Result.failure) ?? result
            return PendingCommand.Completed(
                isChange: isChange,
                failure: result.failure,
                tell: tell.map { tell in Effect { tell(result.map { $0! }) } }
            )
        }
        guard let completion else { return .complete(completed(nil)) }
        return .detached(detach(completion, completed))
    }

    /// What waits for the end of a command, and keeps the value until then.
    @usableFromInline
    func detach(
        _ completion: ManualCompletion,
        _ completed: @escaping (QueueSafeValueError?) -> PendingCommand.Completed
    ) -> (@escaping (PendingCommand.Completed) -> Void) -> Void {
        var completion: ManualCompletion? = completion
        return { [self] complete in
            completion.take()!.closureReturned { failure in
                withExtendedLifetime(storage) { complete(completed(failure)) }
                failure?.reported(for: Value.self, "a command with `done`")
            }
        }
    }
}

extension Result {
    @inlinable
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

/// Where a thread waits for the end of its manual command.
private struct Ending: Sendable {
    private let parker = ThreadWaiter.current.parker
    private let failure = Protected<QueueSafeValueError?>(nil)

    func set(_ failure: QueueSafeValueError?) {
        // Once it is awake, the thread may be gone; the parker is kept.
        let parker = parker
        self.failure.write { $0 = failure }
        parker.wake()
    }

    func wait() -> QueueSafeValueError? {
        parker.park()
        return failure.wrappedValue
    }
}
