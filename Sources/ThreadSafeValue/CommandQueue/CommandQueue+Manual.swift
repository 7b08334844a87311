//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

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
    @inline(never)
    func performManually(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        isChange: Bool,
        _ body: (inout Value, @escaping CommandCompletionClosure) throws -> Void
    ) -> Result<Value, QueueSafeValueError> {
        // Not inlined: `NeverReturningTests` say why.
        let thread = TurnWord.currentThread
        if !word.exchangeAcquiring(TurnWord.idle, for: thread), let failure = waitForTurn(priority, timeout) {
            return .failure(failure)
        }
        var ending: Ending?
        // A copy, made here and not on the thread that completes the command. Nobody can change the value before.
        let result = hold { value, done in
            try body(&value, done)
            return value
        } detach: { completion, _ in
            ending = detach(completion, afterChange: isChange)
        }
        guard let ending else {
            giveTurnBack(of: thread, afterChange: isChange)
            return result
        }
        return ending.wait(for: Value.self).map(Result.failure) ?? result
    }

    /// Runs `body` with the turn of the calling thread, for a lane.
    ///
    /// - Parameters:
    ///   - isChange: Whether the command may change the value.
    ///   - body: Called at once, with the value and what completes the command.
    ///   - tell: Called on the target queue with the result, when the command is completed and the turn is free.
    ///   - target: The queue of the lane, if there is something to tell.
    /// - Returns: How the closure left the turn.
    @inlinable
    func runManually(
        isChange: Bool,
        _ body: (inout Value, @escaping CommandCompletionClosure) throws -> Void,
        completion tell: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?,
        on target: DispatchQueue?
    ) -> PendingCommand.Ending where Value: Sendable {
        guard let tell, let target else {
            // No copy: it would make the next change copy the value too.
            var isDetached = false
            let result = hold(body) { completion, _ in
                detach(completion, afterChange: isChange, on: nil) { _ in }
                isDetached = true
            }
            return isDetached ? .detached : .complete(isChange: isChange, keeping: result)
        }
        var isDetached = false
        let result = hold { value, done in
            try body(&value, done)
            return value
        } detach: { completion, result in
            detach(completion, afterChange: isChange, on: target) { tell($0.map(Result.failure) ?? result) }
            isDetached = true
        }
        return isDetached ? .detached : .complete(isChange: isChange) { tell(result) }
    }

    /// Runs the closure of a command with the turn.
    ///
    /// - Parameters:
    ///   - body: The closure.
    ///   - detach: Called with the result of the closure if the command is not complete then.
    /// - Returns: The result of the closure.
    @inlinable
    func hold<Success>(
        _ body: (inout Value, @escaping CommandCompletionClosure) throws -> Success,
        detach: (ManualCompletion, Result<Success, QueueSafeValueError>) -> Void
    ) -> Result<Success, QueueSafeValueError> {
        // When this function is over, only `done` keeps it. It is made to be shared.
        nonisolated(unsafe) let completion = ManualCompletion.make()
        let result = run { value in try body(&value) { unsafe completion.complete() } }
        switch result {
        // A command whose closure throws is over, completed or not.
        case .failure: unsafe completion.complete()
        case .success: if unsafe !completion.isComplete { unsafe detach(completion, result) }
        }
        return result
    }

    /// Leaves the turn to a command that is not complete, while the thread goes on.
    ///
    /// - Parameters:
    ///   - completion: The end of the command.
    ///   - isChange: Whether the command may change the value.
    ///   - target: The queue of the command's lane, if there is somebody to tell.
    ///   - tell: Called there when the command is completed, with why it failed, if it did.
    @usableFromInline
    func detach(
        _ completion: ManualCompletion,
        afterChange isChange: Bool,
        on target: DispatchQueue?,
        then tell: @escaping @Sendable (QueueSafeValueError?) -> Void
    ) {
        moveTurn(to: TurnWord.detached)
        let call = target == nil ? nil : CompletionCall(tell)
        completion.closureReturned { failure in
            if var call, let target {
                call.failure = failure
                withTurnQueue { $0.giveTurnBack(afterChange: isChange, on: target, calling: call) }
            } else {
                giveTurnBack(of: TurnWord.detached, afterChange: isChange)
            }
            failure?.reportedOfManualCommand(for: Value.self)
        }
    }

    /// Leaves the turn to a command that is not complete, while the calling thread waits.
    ///
    /// - Parameters:
    ///   - completion: The end of the command.
    ///   - isChange: Whether the command may change the value.
    /// - Returns: Where to wait for the end.
    @usableFromInline
    func detach(_ completion: ManualCompletion, afterChange isChange: Bool) -> Ending {
        let ending = Ending()
        // The thread that waits keeps the storage, and no other thread does: it may be the only one that may let the
        // value go.
        let storage = unsafe Unmanaged.passUnretained(storage)
        moveTurn(to: TurnWord.detached)
        completion.closureReturned { failure in
            let delivery = unsafe Self.giveDetachedTurnBack(in: storage, afterChange: isChange)
            delivery?.deliver()
            ending.set(failure)
            // At last: what it has pushed out of a buffer may wait, as it goes away, for the thread.
            withExtendedLifetime(delivery) {}
        }
        return ending
    }

    // Not inlined, so that the caller has no reference to the storage when this has returned.
    @inline(never)
    private static func giveDetachedTurnBack(
        in storage: Unmanaged<CommandQueueStorage<Value>>,
        afterChange isChange: Bool
    ) -> Batch.Delivery? {
        unsafe storage._withUnsafeGuaranteedRef { $0.turns.giveTurnBackToTell(afterChange: isChange) }
    }
}

/// Where a thread waits for the end of its manual command.
@usableFromInline
struct Ending: Sendable {
    private enum Outcome {
        case pending
        case over(QueueSafeValueError?)
    }

    private let parker = ThreadWaiter.current.parker!
    private let outcome = Protected(Outcome.pending)

    func set(_ failure: QueueSafeValueError?) {
        // Once it is set, the thread may be gone; the parker is kept.
        let parker = parker
        outcome.write(.over(failure))
        parker.wake()
    }

    /// Waits until it is set.
    ///
    /// - Parameter valueType: The type of the value.
    /// - Returns: Why the command failed, if it did.
    @usableFromInline
    func wait(for valueType: any Any.Type) -> QueueSafeValueError? {
        while true {
            if case .over(let failure) = outcome.wrappedValue {
                return failure?.reportedOfManualCommand(for: valueType)
            }
            parker.park()
        }
    }
}

extension QueueSafeValueError {
    @discardableResult
    fileprivate func reportedOfManualCommand(for valueType: any Any.Type) -> QueueSafeValueError {
        reported(for: valueType, "a command with `done`")
    }
}
