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
        let parker = Parker()
        let answer = Protected<Result<Value, QueueSafeValueError>?>(nil)
        keepTurn(isChange: isChange, during: body) { result in
            answer.write(result)
            parker.wake()
        }
        parker.park()
        return answer.wrappedValue!
    }

    /// Runs `body` with the turn of the calling thread and gives the turn back when the command is completed.
    ///
    /// - Parameters:
    ///   - isChange: whether the command may change the value.
    ///   - body: called at once, with the value and what completes the command.
    ///   - finish: called with the result when the command is completed and has given the turn back, on the thread that
    ///     completes it.
    @usableFromInline
    func keepTurn(
        isChange: Bool,
        during body: (inout Value, @escaping CommandCompletionClosure) throws -> Void,
        finish: @escaping (Result<Value, QueueSafeValueError>) -> Void
    ) {
        let completion = ManualCompletion()
        do {
            try unsafe body(&value.pointee) { completion.complete(.done) }
        } catch {
            completion.fail(error)
        }
        moveTurn(to: TurnWord.elsewhere)
        completion.closureReturned { outcome in
            // Nobody else could change the value since the closure left it.
            let result = unsafe outcome.result(value.pointee)
            giveTurnBack(of: TurnWord.elsewhere, afterChange: isChange)
            finish(result)
        }
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
