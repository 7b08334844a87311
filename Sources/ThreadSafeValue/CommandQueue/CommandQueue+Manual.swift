//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

// Manual completion: the turn is kept after the closure has returned, until the command is completed.

extension CommandQueue {
    /// Takes the turn, runs `body` on the calling thread, and waits until the command is completed.
    ///
    /// - Returns: the value as `body` left it, or why the command failed.
    @usableFromInline
    func performManually(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        isChange: Bool,
        _ body: (inout Value, @escaping CommandCompletionClosure) throws -> Void
    ) -> Result<Value, QueueSafeValueError> {
        let thread = TurnWord.currentThread
        if !word.exchangeAcquiring(TurnWord.idle, for: thread), let failure = takeTurnSlowly(priority, timeout) {
            return .failure(failure)
        }
        var ending: Ending?
        let (updated, outcome) = hold(copying: true, body) { _ in
            let waited = Ending()
            ending = waited
            // The thread that waits keeps the storage, and no other thread does: it may be the only one that may let the value go.
            let storage = unsafe Unmanaged.passUnretained(storage)
            return { outcome in
                unsafe Self.giveDetachedTurnBack(in: storage, afterChange: isChange)
                waited.set(outcome)
            }
        }
        if outcome != nil { giveTurnBack(of: thread, afterChange: isChange) }
        let ended = outcome ?? ending!.wait()
        ended.report(for: Value.self)
        return ended.result(updated!)
    }

    /// Runs `body` with the turn of the calling thread, for a lane.
    ///
    /// - Parameters:
    ///   - isChange: whether the command may change the value.
    ///   - body: called at once, with the value and what completes the command.
    ///   - completion: called on the target queue with the result, when the command is completed and the turn is free.
    ///   - target: the queue of the lane.
    /// - Returns: how the closure left the turn.
    @usableFromInline
    func runManually(
        isChange: Bool,
        _ body: (inout Value, @escaping CommandCompletionClosure) throws -> Void,
        completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?,
        on target: DispatchQueue
    ) -> PendingCommand.Ending where Value: Sendable {
        // A copy that nobody wants would make the next change copy the value too.
        let (updated, outcome) = hold(copying: completion != nil, body) { updated in
            { outcome in
                giveTurnBack(of: TurnWord.detached, afterChange: isChange)
                outcome.report(for: Value.self)
                guard let completion, let updated else { return }
                target.async { completion(outcome.result(updated)) }
            }
        }
        guard let outcome else { return .detached }
        outcome.report(for: Value.self)
        guard let completion, let updated else { return .complete(isChange: isChange, tell: nil) }
        return .complete(isChange: isChange) { completion(outcome.result(updated)) }
    }

    /// Runs the closure of a command with the turn, and leaves the turn to the command if that is not complete then.
    ///
    /// - Parameters:
    ///   - isCopying: whether to copy the value as the closure leaves it: here, and not on the thread that completes the
    ///     command. Nobody can change the value before.
    ///   - body: the closure.
    ///   - makeFinish: called with the copy if the command is not complete. What it returns gives the turn back when the
    ///     command is completed, on the thread that completes it.
    /// - Returns: the copy, and how the command has ended, if it has.
    private func hold(
        copying isCopying: Bool,
        _ body: (inout Value, @escaping CommandCompletionClosure) throws -> Void,
        makeFinish: (Value?) -> (ManualCompletion.Outcome) -> Void
    ) -> (updated: Value?, outcome: ManualCompletion.Outcome?) {
        // When this function is over, only `done` keeps it.
        let completion = ManualCompletion()
        do {
            try unsafe body(&value.pointee) { completion.complete(.done) }
        } catch {
            completion.fail(error)
        }
        let updated = unsafe isCopying ? value.pointee : nil
        if let outcome = completion.outcome { return (updated, outcome) }
        let finish = makeFinish(updated)
        moveTurn(to: TurnWord.detached)
        completion.closureReturned(finish: finish)
        return (updated, nil)
    }

    // Not inlined, so that the caller has no reference to the storage when this has returned.
    @inline(never)
    private static func giveDetachedTurnBack(
        in storage: Unmanaged<CommandQueueStorage<Value>>,
        afterChange isChange: Bool
    ) {
        unsafe storage._withUnsafeGuaranteedRef {
            CommandQueue(storage: $0).giveTurnBack(of: TurnWord.detached, afterChange: isChange)
        }
    }
}

extension ManualCompletion.Outcome {
    /// Reports a `done` that was dropped.
    fileprivate func report(for valueType: any Any.Type) {
        if case .dropped = self {
            QueueSafeValueError.completionDropped.reported(for: valueType, "a command with `done`")
        }
    }

    /// The result of a command that left `value` and ended so.
    fileprivate func result<Value>(_ value: Value) -> Result<Value, QueueSafeValueError> {
        switch self {
        case .done: .success(value)
        case .dropped: .failure(.completionDropped)
        case .failed(let error): .failure(.unexpected(error: error))
        }
    }
}

/// Where a thread waits for the end of its manual command.
private struct Ending: Sendable {
    private let parker = ThreadWaiter.current.parker!
    private let outcome = Protected<ManualCompletion.Outcome?>(nil)

    func set(_ outcome: ManualCompletion.Outcome) {
        // Once it is set, the thread may be gone; the parker is kept.
        let parker = parker
        self.outcome.write(outcome)
        parker.wake()
    }

    func wait() -> ManualCompletion.Outcome {
        while true {
            if let outcome = outcome.wrappedValue { return outcome }
            parker.park()
        }
    }
}
