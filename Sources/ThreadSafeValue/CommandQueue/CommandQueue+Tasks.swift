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
            return unsafe Result(of: body, with: &value.pointee)
        case .refused(let failure): return .failure(failure)
        case .busy: break
        }
        return await submitAwaited(priority) { resume in
            let result = unsafe Result(of: body, with: &value.pointee)
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
        if WaitGraph.shared.begin(for: resource, thread: 0, body: body) != nil { return .failure(.circularWait) }
        let cancellation = Cancellation()
        return await withTaskCancellationHandler {
            unsafe await withUnsafeContinuation { continuation in
                let submission = submit(priority, in: awaitedTarget) { turn in
                    // After the closure, which may wait for a value that the task's body has; and not when the task goes on, which
                    // may be much later.
                    defer { WaitGraph.shared.end(for: resource, thread: 0, body: body) }
                    switch turn {
                    case .success: return work { unsafe continuation.resume(returning: $0) }
                    case .failure(let failure):
                        return .complete(isChange: false) {
                            unsafe continuation.resume(returning: .failure(failure))
                        }
                    }
                }
                switch submission {
                case .success(let command): cancellation.attach(command)
                case .failure(let failure):
                    WaitGraph.shared.end(for: resource, thread: 0, body: body)
                    unsafe continuation.resume(returning: .failure(failure))
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }
}

/// The cancellation of a task whose command may not have been submitted yet.
private struct Cancellation: Sendable {
    private struct State {
        var command: CommandHandle?
        var isCancelled = false
    }

    private let state = Protected(State())

    func attach(_ command: CommandHandle) {
        let isCancelled = state.write { state in
            state.command = command
            return state.isCancelled
        }
        if isCancelled { command.cancel() }
    }

    func cancel() {
        let command = state.write { state in
            state.isCancelled = true
            return state.command
        }
        command?.cancel()
    }
}

/// Where commands of tasks run that had to wait.
private let awaitedTarget = DispatchQueue.global(qos: .userInitiated)

extension Result where Success: Sendable, Failure == QueueSafeValueError {
    /// What a closure of a command returns or throws.
    fileprivate init<Value>(of body: (inout Value) throws -> Success, with value: inout Value) {
        do {
            self = .success(try body(&value))
        } catch {
            self = .failure(.unexpected(error: error))
        }
    }
}
