//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

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
        var completed: Completed<Value>?
        let result = keepTurn(isChange: isChange, during: body) {
            let later = Completed<Value>()
            completed = later
            return later.complete
        }
        return result ?? completed!.wait()
    }

    /// Runs `body` with the turn of the calling thread and gives the turn back when the command is completed.
    ///
    /// - Parameters:
    ///   - isChange: whether the command may change the value.
    ///   - body: called at once, with the value and what completes the command.
    ///   - makeFinish: called if the command is not complete when `body` has returned. What it returns is called with the
    ///     result when the command is completed and has given the turn back, on the thread that completes it.
    /// - Returns: the result, if the command is complete already.
    @usableFromInline
    func keepTurn(
        isChange: Bool,
        during body: (inout Value, @escaping CommandCompletionClosure) throws -> Void,
        makeFinish: () -> (Result<Value, QueueSafeValueError>) -> Void
    ) -> Result<Value, QueueSafeValueError>? {
        let completion = ManualCompletion()
        do {
            try unsafe body(&value.pointee) { completion.complete(.done) }
        } catch {
            completion.fail(error)
        }
        if let outcome = completion.outcome {
            let result = unsafe outcome.result(value.pointee)
            giveTurnBack(of: TurnWord.currentThread, afterChange: isChange)
            return result
        }
        let finish = makeFinish()
        moveTurn(to: TurnWord.elsewhere)
        completion.closureReturned { outcome in
            // Nobody else could change the value since the closure left it.
            let result = unsafe outcome.result(value.pointee)
            giveTurnBack(of: TurnWord.elsewhere, afterChange: isChange)
            finish(result)
        }
        return nil
    }

    /// The turn of the calling thread stays with its command when the thread goes on to something else.
    func moveTurn(to holder: UInt64) {
        while true {
            let seen = turn
            if word.exchange(seen.bits, for: seen.held(by: holder).bits) { return }
        }
    }
}

extension ManualCompletion.Outcome {
    /// The result of a command that left `value` and ended so.
    fileprivate func result<Value>(_ value: @autoclosure () -> Value) -> Result<Value, QueueSafeValueError> {
        switch self {
        case .done: .success(value())
        case .dropped: .failure(.completionDropped)
        case .failed(let error): .failure(.unexpected(error: error))
        }
    }
}

/// Where a thread waits for the result of its manual command, which goes over under a lock.
private final class Completed<Value>: @unchecked Sendable {
    private let parker = Parker()
    private let result = Protected<Result<Value, QueueSafeValueError>?>(nil)

    func complete(_ result: Result<Value, QueueSafeValueError>) {
        self.result.write(result)
        parker.wake()
    }

    func wait() -> Result<Value, QueueSafeValueError> {
        parker.park()
        return result.wrappedValue!
    }
}
