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
        return unsafe await submitAwaited(priority) { address, resume in
            let result = unsafe Result(of: body, with: &address.assumingMemoryBound(to: Value.self).pointee)
            // When the task goes on, its command is over.
            return isChange ? .changedThen { resume(result) } : .readThen { resume(result) }
        }
    }

    /// Runs `body` with the turn, which is kept while it is suspended.
    @usableFromInline
    func performAwaitedBody(
        _ priority: CommandPriority,
        _ body: @Sendable (inout Value) async throws -> Void
    ) async -> Result<Value, QueueSafeValueError> {
        if Task.isCancelled { return .failure(.cancelled) }
        let owner = TaskOwner.make()
        switch tryToTakeTurn(priority, .none) {
        case .taken: moveTurn(to: owner)
        case .refused(let failure): return .failure(failure)
        case .busy:
            let turn: Result<Void, QueueSafeValueError> = unsafe await submitAwaited(priority) { _, resume in
                moveTurn(to: owner)
                resume(.success(()))
                return .kept
            }
            if case .failure(let failure) = turn { return .failure(failure) }
        }
        defer { giveTurnBack(of: owner, afterChange: true) }
        do {
            try await TaskOwner.$current.withValue(TaskOwner.current + [owner]) {
                try unsafe await body(&value.pointee)
            }
            return unsafe .success(value.pointee)
        } catch {
            return .failure(.unexpected(error: error))
        }
    }

    /// Waits in line for `work`, which gets the value's address and must resume the task in the end. A cancelled task leaves
    /// the line.
    private func submitAwaited<Success: Sendable>(
        _ priority: CommandPriority,
        _ work:
            @escaping (
                UnsafeMutableRawPointer, @escaping (Result<Success, QueueSafeValueError>) -> Void
            ) -> PendingCommand.Ending
    ) async -> Result<Success, QueueSafeValueError> {
        let owners = TaskOwner.current
        guard WaitGraph.shared.beginAwaiting(word, owners) else { return .failure(.circularWait) }
        let cancellation = Cancellation()
        return await withTaskCancellationHandler {
            unsafe await withUnsafeContinuation { continuation in
                let submission = unsafe submit(priority, in: awaitedTarget, endsRun: true) { address in
                    // Here, and not when the task goes on, which may be much later: it waits no more.
                    WaitGraph.shared.endAwaiting(word, owners)
                    guard let address = unsafe address else {
                        return .readThen { unsafe continuation.resume(returning: .failure(.cancelled)) }
                    }
                    return unsafe work(address) { unsafe continuation.resume(returning: $0) }
                }
                switch submission {
                case .success(let command): cancellation.attach(AsyncCommand(handle(for: command)))
                case .failure(let failure):
                    WaitGraph.shared.endAwaiting(word, owners)
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
        var command: AsyncCommand?
        var isCancelled = false
    }

    private let state = Protected(State())

    func attach(_ command: AsyncCommand) {
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

/// Who holds a turn across suspensions: an async body, on whatever threads it and the tasks below it run.
enum TaskOwner {
    /// The bodies that the current task is in, as holders of turns, the outermost first.
    @TaskLocal static var current: [UInt64] = []

    private static let made = Protected(UInt64(0))

    /// A new owner: there was none with its number before.
    static func make() -> UInt64 {
        made.write { made in
            made += 1
            return TurnWord.task | made << 8
        }
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
