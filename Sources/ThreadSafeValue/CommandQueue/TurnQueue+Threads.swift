//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// How a thread waits for a turn. It waits in one place at a time, so it has one for its life, and to wait allocates
/// nothing.
final class ThreadWaiter: Waiter, @unchecked Sendable {
    /// Where the thread sleeps. Each sleep ends with exactly one wake-up.
    let parker = Parker()

    /// The blocks on the stack of the thread, which alone uses this.
    var blocks: [BlockRun] = []

    override func wake() { parker.wake() }

    override var waiting: WaitGraph.Waiting { WaitGraph.Waiting(thread: identity, task: state.task) }

    private static let waiters = ThreadLocal<ThreadWaiter>()

    /// That of the calling thread.
    static var current: ThreadWaiter {
        if let known = waiters.object { return known }
        let waiter = ThreadWaiter(.thread, identity: currentThreadIdentity())
        waiters.object = waiter
        return waiter
    }
}

extension TurnQueue {
    /// Takes the turn on the calling thread, and sleeps for as long as that takes (rule 2).
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - timeout: For how long it may wait, in nanoseconds; with 0 it only looks, with `.max` it waits for ever.
    /// - Returns: `nil` with the turn, or why there is none to be had.
    @usableFromInline
    func waitForTurn(_ priority: CommandPriority, _ timeout: UInt64) -> QueueSafeValueError? {
        let thread = currentThreadIdentity()
        // Often the turn is free, and the fast path failed only as something stands in line.
        if tryToTakeTurn(priority, as: thread) { return nil }
        if turn.isHeld(by: thread, or: currentTaskIdentity()) {
            return QueueSafeValueError.reentrantCommand.reported(for: valueType, "wait.\(priority)Priority")
        }
        if timeout == 0 { return tryToTakeTurnNow(priority, as: thread) ? nil : .timedOut }
        let deadline = Deadline(after: timeout)
        if tryToTakeTurn(priority, as: thread, .beforeParking) { return keepsTurn(until: deadline) ? nil : .timedOut }
        return stand(priority, by: deadline, isWatching: false)
    }

    /// Gives the turn of the calling thread back, and takes it again after the next change.
    ///
    /// - Returns: `nil` with the turn, or why there is none to be had.
    @usableFromInline
    func waitForChange(_ priority: CommandPriority, until deadline: Deadline) -> QueueSafeValueError? {
        if deadline.hasPassed {
            releaseAndNotify(afterChange: false)
            return .timedOut
        }
        return stand(priority, by: deadline, isWatching: true)
    }

    /// Stands in line, now or after the next change, until the thread has the turn or does not get it.
    private func stand(_ priority: CommandPriority, by deadline: Deadline, isWatching: Bool) -> QueueSafeValueError? {
        let (waiter, own, task) = (ThreadWaiter.current, DispatchQueue.own, currentTaskIdentity())
        update { line in
            // A completion waits: another block does the rest of its lane's commands.
            for run in waiter.blocks where run.lane.turns === self && run.lane.running === run {
                line.replaceBlock(run.lane)
            }
            waiter.state = Waiter.State(priority: priority, sentTime: now(), task: task, own: own)
            line.enter(waiter, isWatching: isWatching)
        }
        if let failure = sleep(waiter, priority, until: deadline) {
            return failure.reported(for: valueType, "wait.\(priority)Priority")
        }
        return keepsTurn(until: deadline) ? nil : .timedOut
    }

    private func sleep(
        _ waiter: ThreadWaiter,
        _ priority: CommandPriority,
        until deadline: Deadline
    ) -> QueueSafeValueError? {
        // Time-outs end by themselves, so such a wait is in no circle for ever.
        var time = deadline.isTime ? deadline.time : now() + HandoffPolicy.circle
        while true {
            if spinInLine(waiter, priority) { return nil }
            var end = prepareToPark(waiter)
            if case .mayTry = end {
                if !waiter.parker.park(until: time) {
                    update { line in
                        if deadline.isTime { return line.refuse(waiter, .timedOut) }
                        line.refuseIfCircular(waiter, for: resource)
                    }
                    time = .max
                    waiter.parker.park()
                }
                end = update { $0.finishWait(waiter) }
            }
            switch end {
            case .hasTurn: return nil
            case .refused(let error): return error
            case .mayTry: continue
            }
        }
    }

    /// Looks for the turn for a moment, from its place in line.
    ///
    /// - Returns: Whether the thread has the turn.
    private func spinInLine(_ waiter: ThreadWaiter, _ priority: CommandPriority) -> Bool {
        for _ in 0..<HandoffPolicy.looksInLine {
            if turn.mayBeTaken(byFront: priority), update({ $0.arrive(waiter, as: waiter.identity) }) { return true }
            for _ in 0..<HandoffPolicy.pausesInLine { pauseSpinning() }
        }
        return false
    }

    private func prepareToPark(_ waiter: ThreadWaiter) -> WaitEnd {
        #if DEBUG
        let (end, warns) = update { line -> (WaitEnd, Bool) in
            let end = line.prepareToPark(waiter)
            guard case .mayTry = end, waiter.state.task != 0, !line.hasWarnedOfSleep else { return (end, false) }
            line.hasWarnedOfSleep = true
            return (end, true)
        }
        if warns {
            let warning = "a wait lets a thread sleep that tasks need. Use await value.async"
            writeToStandardError("ThreadSafeValue: QueueSafeValue<\(valueType)>: \(warning)")
        }
        return end
        #else
        return update { $0.prepareToPark(waiter) }
        #endif
    }
}
