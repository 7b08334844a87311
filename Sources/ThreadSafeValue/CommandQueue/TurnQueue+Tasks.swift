//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// How a task waits for a turn: a lane with one command, whose block is the rest of the task.
@safe final class TaskWaiter: Waiter, @unchecked Sendable {
    /// The rest of the task: it goes on when the task is sent for or refused. Set before the task parks.
    fileprivate var continuation: UnsafeContinuation<Void, Never>?

    override func wake() { unsafe continuation!.resume() }
}

extension TurnQueue {
    /// Takes the turn for the calling task, which is suspended for as long as that takes.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - deadline: Until when it waits.
    ///   - isAsync: Whether its closure is async. The task has the turn then, otherwise the thread.
    ///   - isWatching: Whether the task has the turn, gives it back, and takes it again after the next change.
    /// - Returns: `nil` with the turn, or why there is none to be had.
    @usableFromInline nonisolated(nonsending) func waitForTurn(
        _ priority: CommandPriority,
        until deadline: Deadline,
        isAsync: Bool = false,
        isWatching: Bool = false
    ) async -> QueueSafeValueError? {
        if !isWatching, Task.isCancelled { return .cancelled }
        let end = takeTurn(priority, as: holder(isAsync), until: deadline, isWatching: isWatching)
        var failure = end.failure
        if case .mayTry = end {
            let end = await stand(priority, until: deadline, isAsync: isAsync, isWatching: isWatching)
            failure = end.failure ?? self.failure(at: deadline)
        }
        if let failure { return failure.reported(for: valueType, "async.\(priority)Priority") }
        // The command before may have cancelled the task.
        if Task.isCancelled {
            releaseAndNotify(afterChange: false)
            return .cancelled
        }
        // An async closure has the turn: threads of the pool must not sleep until it ends.
        if isAsync, !turn.isLineEmpty || turn.isObserved, let priority = update({ $0.refuseThreadsOfTasks() }) {
            liftPriority(of: currentTaskIdentity(), to: priority)
        }
        return nil
    }

    /// The holder of the turn while the closure of the calling task runs.
    private func holder(_ isAsync: Bool) -> UInt64 {
        isAsync ? currentTaskIdentity() | TurnWord.asyncBit : currentThreadIdentity()
    }

    /// Stands in line, now or after the next change, until the task has the turn or does not get it.
    nonisolated(nonsending) private func stand(
        _ priority: CommandPriority,
        until deadline: Deadline,
        isAsync: Bool,
        isWatching: Bool
    ) async -> WaitEnd {
        let waiter = TaskWaiter(.task, identity: currentTaskIdentity())
        // From outside: its time is over, or it is cancelled.
        let refuse = { @Sendable [self] (error: QueueSafeValueError) in update { $0.refuse(waiter, error) } }
        let isAccepted = update { line in
            if !isWatching, line.isFull { return false }
            waiter.state = Waiter.State(priority: priority, taskPriority: Task.currentPriority.rawValue)
            line.enter(waiter, isWatching: isWatching)
            // A wait that ends is in no circle for ever.
            if deadline == .never, !isWatching { line.refuseIfCircular(waiter, for: resource) }
            return true
        }
        if !isAccepted { return .refused(.commandQueueFull) }
        let timer = deadline.isTime ? LibraryTimer.set(at: deadline.time) { refuse(.timedOut) } : nil
        defer { timer?.cancel() }
        while true {
            // The handler ends before the task takes the turn. Leaving it takes a lock of the runtime that `onCancel` may
            // hold while it waits for the value.
            await withTaskCancellationHandler {
                unsafe await withUnsafeContinuation { continuation in
                    unsafe waiter.continuation = continuation
                    if case .refused = update({ $0.prepareToPark(waiter) }) { unsafe continuation.resume() }
                }
            } onCancel: {
                refuse(.cancelled)  // fault: cancelled, a task waits on
            }
            let end = update { $0.finishWait(waiter, as: holder(isAsync)) }
            guard case .mayTry = end else { return end }
        }
    }
}
