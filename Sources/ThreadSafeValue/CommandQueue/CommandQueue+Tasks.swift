//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Commands that a task awaits. Sync and async closures run in the task, so no thread of the cooperative pool waits for a
// turn. A sync closure that finds the turn free has it as the thread.

extension CommandQueue where Value: Sendable {
    /// Runs `body` with the turn, and suspends the task for as long as that takes.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) func performAwaited<Success: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        isChange: Bool,
        _ body: (inout Value) throws -> Success
    ) async -> Result<Success, QueueSafeValueError> {
        if let result = performAtOnce(isChange: isChange, body) { return result }
        let task = currentTaskIdentity()
        if let failure = await waitForTurn(priority, until: Deadline(after: timeout), as: task) {
            return .failure(failure)
        }
        return runAndGiveTurnBack(of: task, isChange: isChange, body)
    }

    /// Runs `body` if the turn is free, or if the task is cancelled not at all.
    @inlinable
    @inline(__always)
    func performAtOnce<Success: Sendable>(
        isChange: Bool,
        _ body: (inout Value) throws -> Success
    ) -> Result<Success, QueueSafeValueError>? {
        // Before, so that it takes no turn from anybody.
        if Task.isCancelled { return .failure(.cancelled) }
        let thread = TurnWord.currentThread
        guard word.exchangeAcquiring(TurnWord.idle, for: thread) else { return nil }
        // And with the turn: the command before may have cancelled the task.
        if !Task.isCancelled { return runAndGiveTurnBack(of: thread, isChange: isChange, body) }
        giveTurnBack(of: thread, afterChange: false)
        return .failure(.cancelled)
    }

    /// Runs `body` with the turn, which is kept while it is suspended.
    @inlinable
    nonisolated(nonsending) func performAwaitedBody<Success: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        _ body: @Sendable (inout Value) async throws -> Success
    ) async -> Result<Success, QueueSafeValueError> {
        let holder = currentTaskIdentity() | TurnWord.asyncBit
        if let failure = await waitForTurn(priority, until: Deadline(after: timeout), as: holder) {
            return .failure(failure)
        }
        let result: Result<Success, QueueSafeValueError>
        do {
            result = .success(try unsafe await body(&value.pointee))
        } catch {
            result = .failure(.unexpected(error: error))
        }
        giveTurnBack(of: holder, afterChange: true)
        return result
    }

    /// Runs `body` with the turn when the value meets a condition.
    @inlinable
    nonisolated(nonsending) func performAwaited<Success: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        when isMet: (Value) -> Bool,
        _ body: (inout Value) throws -> Success
    ) async -> Result<Success, QueueSafeValueError> {
        let (task, deadline) = (currentTaskIdentity(), Deadline(after: timeout))
        if let failure = await waitForTurn(priority, until: deadline, as: task) { return .failure(failure) }
        while unsafe !isMet(value.pointee) {
            if let failure = await waitForChange(priority, until: deadline, as: task) { return .failure(failure) }
        }
        return runAndGiveTurnBack(of: task, isChange: true, body)
    }

    /// Takes the turn for the calling task: see `TurnQueue`.
    @usableFromInline
    nonisolated(nonsending) func waitForTurn(
        _ priority: CommandPriority,
        until deadline: Deadline,
        as holder: UInt64
    ) async -> QueueSafeValueError? {
        defer { withExtendedLifetime(storage) {} }
        return await storage.turns.waitInTask(priority, until: deadline, as: holder)
    }

    @usableFromInline
    nonisolated(nonsending) func waitForChange(
        _ priority: CommandPriority,
        until deadline: Deadline,
        as holder: UInt64
    ) async -> QueueSafeValueError? {
        defer { withExtendedLifetime(storage) {} }
        return await storage.turns.waitForChangeInTask(priority, until: deadline, as: holder)
    }
}
