//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

// Commands that a task awaits. One that finds the turn free runs in the task, at once; any other waits in the lane of a
// global queue, so no thread of the cooperative pool ever waits for a turn.

extension CommandQueue where Value: Sendable {
    /// Runs `body` with the turn, and suspends the task for as long as that takes.
    @usableFromInline
    func performAwaited<Success: Sendable>(
        _ priority: CommandPriority,
        isChange: Bool,
        _ body: @escaping @Sendable (inout Value) throws -> Success
    ) async -> Result<Success, QueueSafeValueError> {
        if Task.isCancelled { return .failure(.cancelled) }
        switch tryToTakeTurn(priority, .none) {
        case .taken:
            defer { giveTurnBack(of: TurnWord.currentThread, afterChange: isChange) }
            return run(body)
        case .refused(let failure): return .failure(failure)
        case .busy: break
        }
        return await submitAwaited(priority) { resume in
            let result = run(body)
            // When the task goes on, its command is over.
            return .complete(isChange: isChange) { resume(result) }
        }
    }

    /// Runs `body` with the turn, which is kept while it is suspended.
    @usableFromInline
    func performAwaitedBody(
        _ priority: CommandPriority,
        _ body: @Sendable (inout Value) async throws -> Void
    ) async -> Result<Value, QueueSafeValueError> {
        if Task.isCancelled { return .failure(.cancelled) }
        let owner = TaskBody()
        switch tryToTakeTurn(priority, .none) {
        case .taken: moveTurn(to: owner.holder)
        case .refused(let failure): return .failure(failure)
        case .busy:
            let turn: Result<Void, QueueSafeValueError> = await submitAwaited(priority) { resume in
                moveTurn(to: owner.holder)
                resume(.success(()))
                return .detached
            }
            if case .failure(let failure) = turn { return .failure(failure) }
        }
        defer { giveTurnBack(of: owner.holder, afterChange: true) }
        do {
            try await owner.run { try unsafe await body(&value.pointee) }
            return unsafe .success(value.pointee)
        } catch {
            return .failure(.unexpected(error: error))
        }
    }

    /// Waits in line for `work`, which must resume the task in the end. A cancelled task leaves the line.
    private func submitAwaited<Success: Sendable>(
        _ priority: CommandPriority,
        _ work:
            @escaping (@escaping (Result<Success, QueueSafeValueError>) -> Void) -> PendingCommand.Ending
    ) async -> Result<Success, QueueSafeValueError> {
        let body = TaskBody.current
        guard WaitGraph.shared.begin(for: word, thread: 0, body: body) else { return .failure(.circularWait) }
        let handle = Protected<CommandHandle?>(nil)
        return await withTaskCancellationHandler {
            unsafe await withUnsafeContinuation { continuation in
                let submission = submit(priority, in: awaitedTarget) { turn in
                    // After the closure, which may wait for a value that the task's body has; and not when the task goes on, which
                    // may be much later.
                    defer { WaitGraph.shared.end(for: word, thread: 0, body: body) }
                    switch turn {
                    case .success: return work { unsafe continuation.resume(returning: $0) }
                    case .failure(let failure):
                        return .complete(isChange: false) {
                            unsafe continuation.resume(returning: .failure(failure))
                        }
                    }
                }
                switch submission {
                case .success(let command):
                    handle.write(command)
                    // The task may have been cancelled before there was a handle.
                    if Task.isCancelled { command.cancel() }
                case .failure(let failure):
                    WaitGraph.shared.end(for: word, thread: 0, body: body)
                    unsafe continuation.resume(returning: .failure(failure))
                }
            }
        } onCancel: {
            handle.wrappedValue?.cancel()
        }
    }
}

/// Where commands of tasks run that had to wait.
private let awaitedTarget = DispatchQueue.global(qos: .userInitiated)
