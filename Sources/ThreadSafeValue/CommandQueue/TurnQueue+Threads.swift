//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// How a thread waits for a turn. A thread waits in one line at a time, so it keeps one waiter for life, and waiting
/// allocates nothing.
final class ThreadWaiter: Waiter, @unchecked Sendable {
    /// Where the thread sleeps. Each sleep ends with exactly one wake-up.
    let parker = Parker()

    /// The blocks on the stack of the thread, which alone uses this.
    var blocks: [BlockRun] = []

    override func wake() { parker.wake() }

    override var waiting: WaitGraph.Waiting { WaitGraph.Waiting(thread: identity, task: state.task) }

    private static let waiters = ThreadLocal<ThreadWaiter>()

    /// The waiter of the calling thread.
    static var current: ThreadWaiter {
        if let known = waiters.object { return known }
        let waiter = ThreadWaiter(.thread, identity: currentThreadIdentity())
        waiters.object = waiter
        return waiter
    }
}

extension TurnQueue {
    /// Takes the turn on the calling thread. It reads no clock if the turn has just become free.
    @usableFromInline func waitForTurn(_ priority: CommandPriority, _ timeout: UInt64) -> QueueSafeValueError? {
        if tryToTakeTurn(priority, as: currentThreadIdentity()) { return nil }
        return waitForTurn(priority, until: Deadline(after: timeout))
    }

    /// Takes the turn on the calling thread, and sleeps for as long as that takes (rule 2).
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - deadline: Until when it may wait; if that is `passed`, it only looks.
    ///   - isWatching: Whether the thread has the turn, gives it back, and takes it again after the next change.
    /// - Returns: `nil` with the turn, or why there is none to be had.
    @usableFromInline func waitForTurn(
        _ priority: CommandPriority,
        until deadline: Deadline,
        isWatching: Bool = false
    ) -> QueueSafeValueError? {
        let end = takeTurn(priority, as: currentThreadIdentity(), until: deadline, isWatching: isWatching)
        var failure = end.failure
        if case .mayTry = end {
            failure = stand(priority, until: deadline, isWatching: isWatching).failure ?? self.failure(at: deadline)
        }
        return failure?.reported(for: valueType, "wait.\(priority)Priority")
    }

    /// Stands in line, now or after the next change, until the thread has the turn or does not get it.
    private func stand(_ priority: CommandPriority, until deadline: Deadline, isWatching: Bool) -> WaitEnd {
        let (waiter, own, task) = (ThreadWaiter.current, DispatchQueue.own, currentTaskIdentity())
        update { line in
            // A completion waits: another block does the rest of its lane's commands.
            for run in waiter.blocks where run.lane.turns === self && run.lane.running === run {
                line.replaceBlock(run.lane)
            }
            waiter.state = Waiter.State(priority: priority, sentTime: now(), task: task, own: own)
            line.enter(waiter, isWatching: isWatching)
        }
        // A wait that ends by itself is in no circle for ever.
        var time = deadline.isTime ? deadline.time : now() + HandoffPolicy.circle
        while true {
            var end = spinInLine(waiter, priority) ? .hasTurn : update { $0.prepareToPark(waiter) }
            if case .mayTry = end {
                #if DEBUG
                warnOfSleep(isInTask: task != 0)
                #endif
                while !waiter.parker.park(until: time) {
                    update { line in
                        if deadline.isTime { return line.refuse(waiter, .timedOut) }
                        line.refuseIfCircular(waiter, for: resource)  // fault: it closes a circle of turns
                    }
                    time = .max
                }
                end = update { $0.finishWait(waiter, as: waiter.identity) }
            }
            guard case .mayTry = end else { return end }
        }
    }

    #if DEBUG
    /// Writes a line, once for a value, if the thread that is about to sleep may be needed by what it waits for.
    private func warnOfSleep(isInTask: Bool) {
        let isNeeded = turn.isHeldByAsyncClosure && DispatchQueue.isMain
        guard isInTask || isNeeded, !withLine({ exchange(&$0.hasWarnedOfSleep, with: true) }) else { return }
        let sleeper =
            isNeeded ? "the main thread sleep, which an async closure may need" : "a thread sleep, which tasks may need"
        writeToStandardError(
            "ThreadSafeValue: QueueSafeValue<\(valueType)>: a wait lets \(sleeper). Use await value.async"
        )
    }
    #endif

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
}
