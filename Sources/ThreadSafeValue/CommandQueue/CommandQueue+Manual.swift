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
    @inlinable func performManually(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        isChange: Bool,
        _ body: ManualBody<Void>
    ) -> Outcome<Value> {
        let thread = currentThreadIdentity()
        if let failure = takeTurn(as: thread, priority, timeout) { return .failure(failure) }
        var completion: ManualCompletion?
        var result = hold(&completion) { value, done in
            try body(&value, done)
            return value
        }
        if completion != nil, let failure = withTurns({ $0.waitForEnd(of: &completion) }) { result = .failure(failure) }
        giveTurnBack(of: thread, afterChange: isChange)
        _fixLifetime(result)
        return result
    }

    /// Runs the closure of a command with the turn.
    ///
    /// - Parameters:
    ///   - completion: Gets the end of the command, if that is still to come.
    ///   - body: The closure.
    /// - Returns: The result of the closure.
    @inlinable
    func hold<Success>(_ completion: inout ManualCompletion?, _ body: ManualBody<Success>) -> Outcome<Success> {
        // When the caller lets go of it, only `done` keeps it.
        let end = storage.takeSpareCompletion()
        let result = run { value in try body(&value) { end.complete() } }
        // A command whose closure throws is over, completed or not.
        if case .failure = result { end.complete() }
        if end.isComplete { storage.keep(end) } else { completion = end }
        return result
    }
}

extension TurnQueue {
    /// Waits with the turn until a command is complete.
    ///
    /// - Returns: Why the command failed, if it did.
    @usableFromInline func waitForEnd(of completion: inout ManualCompletion?) -> QueueSafeValueError? {
        let waiter = ThreadWaiter.current
        completion.take()!.closureReturned { failure in
            waiter.state.refusal = failure
            waiter.parker.wake()
        }
        waiter.parker.park()
        return waiter.state.refusal?.reported(for: valueType, "a command with `done`")
    }
}

extension Result {
    @inlinable var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
