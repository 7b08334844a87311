//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// How a task waits for a turn: a lane with one command, whose block is the rest of the task.
@safe
final class TaskWaiter: Waiter, @unchecked Sendable {
    /// What goes on when the task is sent for or refused. Set before the task rests.
    fileprivate var continuation: UnsafeContinuation<Void, Never>?

    override func wake() { unsafe continuation!.resume() }
}

/// What a task waits for.
struct TaskWait {
    let priority: CommandPriority

    /// Until when it waits.
    let deadline: Deadline

    /// The task, and whether its closure is async.
    let holder: UInt64
}

extension TurnQueue {
    /// Takes the turn for the calling task, which is suspended for as long as that takes.
    ///
    /// - Parameters:
    ///   - wait: What the task waits for.
    ///   - isWatching: Whether the task has the turn, gives it back, and takes it again after the next change.
    /// - Returns: `nil` with the turn, or why there is none to be had.
    nonisolated(nonsending) func waitForTurn(_ wait: TaskWait, isWatching: Bool) async -> QueueSafeValueError? {
        if !isWatching {
            if Task.isCancelled { return .cancelled }
            let backoff = wait.deadline == .passed ? Backoff.none : .beforeParking
            if tryToTakeTurn(wait.priority, as: wait.holder, backoff) { return confirm(nil, wait) }
            if turn.isHeld(by: currentThreadIdentity(), or: wait.holder & identityBits) {
                return confirm(.reentrantCommand, wait)
            }
        }
        if wait.deadline.hasPassed {
            if isWatching { giveTurnBack(afterChange: false) }
            return .timedOut
        }
        return confirm(await stand(wait, isWatching: isWatching), wait)
    }

    /// Reports a failure, or confirms the turn: the command before may have cancelled the task, and its time may be
    /// over.
    private func confirm(_ failure: QueueSafeValueError?, _ wait: TaskWait) -> QueueSafeValueError? {
        if let failure { return failure.reported(for: valueType, "async.\(wait.priority)Priority") }
        let isTimeOver = wait.deadline.isTime && wait.deadline.hasPassed
        if isTimeOver || Task.isCancelled {
            giveTurnBack(afterChange: false)
            return isTimeOver ? .timedOut : .cancelled
        }
        if wait.holder & TurnWord.asyncBit == 0 || turn.isLineEmpty { return nil }
        // An async closure has the turn: threads of the pool must not sleep until it ends.
        update { line in
            for case let thread as ThreadWaiter in line.callers() where thread.task != 0 {
                refuse(thread, .circularWait, &line)
            }
        }
        return nil
    }

    /// Stands in line, now or after the next change, until the task has the turn or does not get it.
    nonisolated(nonsending) private func stand(_ wait: TaskWait, isWatching: Bool) async -> QueueSafeValueError? {
        let (waiter, deadline) = (TaskWaiter(.task, identity: wait.holder), wait.deadline)
        let failure: QueueSafeValueError? = update { line in
            if !isWatching, isFull(line) { return .commandQueueFull }
            line.enter(waiter, wait.priority, isWatching: isWatching)
            // A wait that ends is in no circle for ever.
            guard deadline == .never, !isWatching, isInCircle(waiter) else { return nil }
            line.leave(waiter)
            return .circularWait
        }
        if let failure { return failure }
        let timer = deadline.isTime ? LibraryTimers.timer(at: deadline.time) { self.refuse(waiter, .timedOut) } : nil
        defer { timer?.cancel() }
        repeat {
            // It ends before the task takes the turn: to end it takes a lock of the task in the runtime, under which
            // another thread may do what is to be done when the task is cancelled, and wait for the value.
            await withTaskCancellationHandler {
                unsafe await withUnsafeContinuation { continuation in
                    unsafe waiter.continuation = continuation
                    if !update({ _ in rests(waiter) }) { unsafe continuation.resume() }
                }
            } onCancel: {
                refuse(waiter, .cancelled)
            }
        } while !update({ goesOn(waiter, &$0) })
        return waiter.state.refusal
    }

    /// Refuses a task from outside: its time is over, or it is cancelled.
    private func refuse(_ waiter: TaskWaiter, _ error: QueueSafeValueError) {
        update { refuse(waiter, error, &$0) }
    }

    /// Whether the task is to rest until it is sent for. Under the lock.
    private func rests(_ waiter: TaskWaiter) -> Bool {
        waiter.state.isSent = waiter.state.refusal != nil || wasHanded(waiter)
        return !waiter.state.isSent
    }

    /// The task goes on.
    ///
    /// - Returns: Whether it has the turn, or does not get it. Under the lock.
    private func goesOn(_ waiter: TaskWaiter, _ line: inout Line) -> Bool {
        if waiter.state.refusal != nil || comes(waiter, &line) { return true }
        waiter.cameInVain()
        return false
    }
}
