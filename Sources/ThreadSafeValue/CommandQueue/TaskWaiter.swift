//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// How a task waits for a turn: a lane with one command, whose block is the rest of the task.
@safe
final class TaskWaiter: Waiter, @unchecked Sendable {
    // Set before the task rests, and read by what resumes it.
    private var continuation: UnsafeContinuation<Void, Never>?

    init(_ holder: UInt64) {
        super.init(kind: .task)
        identity = holder
    }

    /// What goes on when the task is sent for or refused.
    func rest(_ continuation: UnsafeContinuation<Void, Never>) {
        unsafe self.continuation = continuation
    }

    override func wake() {
        unsafe continuation!.resume()
    }

}

extension TurnQueue {
    /// Takes the turn for the calling task, which is suspended for as long as that takes.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - deadline: Until when it waits for that.
    ///   - holder: The task, and whether its closure is async.
    /// - Returns: `nil` with the turn, or why there is none to be had.
    nonisolated(nonsending) func waitInTask(
        _ priority: CommandPriority,
        until deadline: Deadline,
        as holder: UInt64
    ) async -> QueueSafeValueError? {
        if Task.isCancelled { return .cancelled }
        let failure: QueueSafeValueError? =
            if tryToTakeTurn(priority, as: holder) {
                nil
            } else if turn.isHeld(by: TurnWord.currentThread, or: holder & identityBits) {
                .reentrantCommand
            } else if deadline.hasPassed {
                .timedOut
            } else {
                await stand(priority, until: deadline, as: holder, isWatching: false)
            }
        return confirm(failure, priority, until: deadline, as: holder)
    }

    /// Gives the turn of the calling task back, and takes it again after the next change.
    nonisolated(nonsending) func waitForChangeInTask(
        _ priority: CommandPriority,
        until deadline: Deadline,
        as holder: UInt64
    ) async -> QueueSafeValueError? {
        if deadline.hasPassed {
            giveTurnBack(afterChange: false)
            return .timedOut
        }
        let delivery = recordChange(false)
        let failure = await stand(priority, until: deadline, as: holder, isWatching: true, telling: delivery)
        return confirm(failure, priority, until: deadline, as: holder)
    }

    /// With the turn: the one before may have cancelled the task, and the task may have come late.
    private func confirm(
        _ failure: QueueSafeValueError?,
        _ priority: CommandPriority,
        until deadline: Deadline,
        as holder: UInt64
    ) -> QueueSafeValueError? {
        if let failure { return failure.reported(for: valueType, "async.\(priority)Priority") }
        let isLate = deadline.isTime && deadline.hasPassed
        if isLate || Task.isCancelled {
            giveTurnBack(afterChange: false)
            return isLate ? .timedOut : .cancelled
        }
        // An async closure may need any thread of the pool to end.
        if holder & TurnWord.asyncBit != 0, !turn.isLineEmpty { refuseThreadsInTasks() }
        return nil
    }

    /// Stands in line, now or after the next change, until the task has the turn or does not get it.
    nonisolated(nonsending) private func stand(
        _ priority: CommandPriority,
        until deadline: Deadline,
        as holder: UInt64,
        isWatching: Bool,
        telling delivery: Effect? = nil
    ) async -> QueueSafeValueError? {
        let waiter = TaskWaiter(holder)
        let failure = update { line, holder in enter(waiter, priority, until: deadline, isWatching, &line, &holder) }
        delivery?.perform()
        if let failure { return failure }
        let timer = deadline.isTime ? LibraryTimers.timer(at: deadline.time) { self.refuse(waiter, .timedOut) } : nil
        defer { timer?.cancel() }
        repeat {
            // It ends before the task takes the turn: to end it takes a lock of the task in the runtime, under which
            // another thread may do what is to be done when the task is cancelled, and wait for the value.
            await withTaskCancellationHandler {
                unsafe await withUnsafeContinuation { continuation in
                    unsafe waiter.rest(continuation)
                    if !update({ line, _ in rests(waiter, &line) }) { unsafe continuation.resume() }
                }
            } onCancel: {
                refuse(waiter, .cancelled)
            }
        } while !update({ line, holder in comes(waiter, deadline, &line, &holder) })
        return waiter.state.refusal
    }

    /// The task begins to wait. Under the lock.
    private func enter(
        _ waiter: TaskWaiter,
        _ priority: CommandPriority,
        until deadline: Deadline,
        _ isWatching: Bool,
        _ line: inout Line,
        _ holder: inout UInt64?
    ) -> QueueSafeValueError? {
        if isWatching {
            holder = 0
        } else if line.limit != .max, pendingCount(line) >= line.limit {
            return .commandQueueFull
        }
        line.enter(waiter, priority, isWatching: isWatching)
        // A wait that ends is in no circle for ever.
        if deadline == .never, !isWatching, isInCircle(waiter) {
            line.leave(waiter)
            return .circularWait
        }
        watch(&line)
        return nil
    }

    /// Whether the task is to rest until it is sent for. Under the lock.
    private func rests(_ waiter: TaskWaiter, _ line: inout Line) -> Bool {
        if waiter.state.refusal != nil || waiter.hasTurn { return false }
        (waiter.state.isSent, waiter.state.isLooking) = (false, false)
        return true
    }

    /// The task goes on: takes the turn, if it was not handed it. Under the lock.
    ///
    /// - Returns: Whether it has the turn, or does not get it.
    private func comes(
        _ waiter: TaskWaiter,
        _ deadline: Deadline,
        _ line: inout Line,
        _ holder: inout UInt64?
    ) -> Bool {
        (waiter.state.sentTime, waiter.state.isLate, waiter.state.isLooking) = (0, false, true)
        if waiter.state.refusal == nil, !waiter.hasTurn {
            if !waiter.state.isWatching { line.placeAgain(waiter) }
            if !takeTurn(line, for: waiter, as: waiter.identity) {
                waiter.cameInVain()
                return false
            }
        }
        line.leave(waiter)
        return true
    }
}
