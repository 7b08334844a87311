//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Commands that a task awaits. Sync and async closures run in the task, so no thread of the cooperative pool waits for
// a turn. A sync closure has the turn as the thread, so that another task which begins in the closure is known.

extension CommandQueue where Value: Sendable {
    /// Runs `body` with the turn, and suspends the task for as long as that takes.
    @inlinable @inline(__always) nonisolated(nonsending) func performAwaited<Success: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        isChange: Bool,
        _ body: Body<Success>
    ) async -> Outcome<Success> {
        unsafe schedulingPoint("await of", storage, word.storage)
        if word.exchangeAcquiring(TurnWord.idle, for: currentThreadIdentity()) {
            return runUnlessCancelled(isChange: isChange, body)
        }
        let (turns, deadline) = (storage.turns, Deadline(after: timeout))
        if let failure = await turns.waitForTurn(priority, until: deadline) { return .failure(failure) }
        return runAndGiveTurnBack(of: currentThreadIdentity(), isChange: isChange, body)
    }

    /// Runs `body` with the turn. Before that, a command or a condition may have cancelled the task.
    @inlinable @inline(__always)
    func runUnlessCancelled<Success>(isChange: Bool, _ body: Body<Success>) -> Outcome<Success> {
        let thread = currentThreadIdentity()
        if !Task.isCancelled { return runAndGiveTurnBack(of: thread, isChange: isChange, body) }
        giveTurnBack(of: thread, afterChange: false)
        return .failure(.cancelled)
    }

    /// Runs `body` with the turn, which is kept while it is suspended.
    @inlinable nonisolated(nonsending) func performAwaitedBody<Success: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        _ body: @Sendable (inout Value) async throws -> Success
    ) async -> Outcome<Success> {
        unsafe schedulingPoint("await of", storage, word.storage)
        let (turns, deadline) = (storage.turns, Deadline(after: timeout))
        if let failure = await turns.waitForTurn(priority, until: deadline, isAsync: true) { return .failure(failure) }
        let result: Outcome<Success>
        do {
            result = .success(try unsafe await body(&value.pointee))
        } catch {
            result = .failure(.unexpected(error: error))
        }
        // Others may lift the priority of the task, so there is more to do than to free the turn.
        giveTurnBackSlowly(afterChange: true)
        return result
    }

    /// Runs `body` with the turn when the value meets a condition.
    @inlinable nonisolated(nonsending) func performAwaited<Success: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        when isMet: (Value) -> Bool,
        _ body: Body<Success>
    ) async -> Outcome<Success> {
        unsafe schedulingPoint("await of", storage, word.storage)
        let (turns, deadline) = (storage.turns, Deadline(after: timeout))
        var failure = await turns.waitForTurn(priority, until: deadline)
        while failure == nil, unsafe !isMet(value.pointee) {
            failure = await turns.waitForTurn(priority, until: deadline, isWatching: true)
        }
        // The test may have taken long.
        if failure == nil { failure = withTurns { $0.failure(at: deadline) } }
        if let failure { return .failure(failure) }
        return runUnlessCancelled(isChange: true, body)
    }
}
