//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// How a thread waits for a turn. It waits in one place at a time, so it has one for its life, and to wait allocates
/// nothing.
final class ThreadWaiter: Waiter, @unchecked Sendable {
    /// Where the thread sleeps. Each sleep ends with exactly one wake-up.
    let parker = Parker()

    /// The task in which the thread waits, or 0.
    fileprivate(set) var task: UInt64 = 0

    /// The lanes whose blocks are on the stack of the thread, which alone uses this, and the numbers of the blocks.
    var blocks: [(lane: Lane, block: Int)] = []

    override func wake() { parker.wake() }

    override var waiting: WaitGraph.Waiting { WaitGraph.Waiting(thread: identity, task: task) }

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
        if timeout != 0, tryToTakeTurn(priority, as: thread, .beforeParking) { return nil }
        if turn.isHeld(by: thread, or: currentTaskIdentity()) {
            return QueueSafeValueError.reentrantCommand.reported(for: valueType, "wait.\(priority)Priority")
        }
        return timeout == 0 ? .timedOut : stand(priority, by: Deadline(after: timeout), isWatching: false)
    }

    /// Gives the turn of the calling thread back, and takes it again after the next change.
    ///
    /// - Returns: `nil` with the turn, or why there is none to be had.
    @usableFromInline
    func waitForChange(_ priority: CommandPriority, until deadline: Deadline) -> QueueSafeValueError? {
        if deadline.hasPassed {
            giveTurnBack(afterChange: false)
            return .timedOut
        }
        return stand(priority, by: deadline, isWatching: true)
    }

    /// Stands in line, now or after the next change, until the thread has the turn or does not get it.
    private func stand(_ priority: CommandPriority, by deadline: Deadline, isWatching: Bool) -> QueueSafeValueError? {
        let (waiter, isOnMainQueue) = (ThreadWaiter.current, DispatchQueue.isMain)
        waiter.task = currentTaskIdentity()
        update { line in
            line.enter(waiter, priority, isWatching: isWatching)
            passLanesBelow(waiter, isOnMainQueue: isOnMainQueue, &line)
        }
        sleep(waiter, until: deadline)
        waiter.leaveGraph()
        if isOnMainQueue { withLine { $0.targetOfMainThread = nil } }
        return waiter.state.refusal?.reported(for: valueType, "wait.\(priority)Priority")
    }

    private func sleep(_ waiter: ThreadWaiter, until deadline: Deadline) {
        while !looks(waiter), update({ rests(waiter, &$0) }) {
            let look = waiter.state.isRegistered ? .max : now() + HandoffPolicy.circle
            let time = deadline.isTime ? deadline.time : look
            if !waiter.parker.park(until: time) {
                let error = deadline.isTime ? QueueSafeValueError.timedOut : .circularWait
                update { if deadline.isTime || waiter.isWaiting && isInCircle(waiter) { refuse(waiter, error, &$0) } }
                waiter.parker.park()
            }
            if wasHanded(waiter) { return }
            // It came in vain.
            update { if $0.front === waiter { waiter.state.isOwed = true } }
        }
    }

    /// Looks for the turn for a moment, from its place in line.
    ///
    /// - Returns: Whether it has the turn.
    private func looks(_ waiter: ThreadWaiter) -> Bool {
        for _ in 0..<80 {
            let seen = TurnWord(bits: word.loadAcquiring())
            if seen.holder == waiter.identity { return true }
            if seen.mayBeTaken(byFront: waiter.state.priority), update({ comes(waiter, &$0) }) { return true }
            for _ in 0..<4 { pauseSpinning() }
        }
        return false
    }

    /// Whether the thread is to sleep until it is woken. Under the lock.
    private func rests(_ waiter: ThreadWaiter, _ line: inout Line) -> Bool {
        // An async closure may need this very thread of the pool to end.
        if waiter.task != 0, turn.isHeldByAsyncClosure { refuse(waiter, .circularWait, &line) }
        if waiter.state.refusal != nil || comes(waiter, &line) { return false }
        waiter.state.isSent = false
        #if DEBUG
        if waiter.task != 0, !line.hasWarnedOfSleep {
            line.hasWarnedOfSleep = true
            let warning = "a wait lets a thread sleep that tasks need. Use await value.async"
            writeToStandardError("ThreadSafeValue: QueueSafeValue<\(valueType)>: \(warning)")
        }
        #endif
        return true
    }

    /// Takes out a thread or a task that has not got the turn, and wakes it. One that was handed the turn keeps it.
    /// Under the lock.
    func refuse(_ waiter: Waiter, _ error: QueueSafeValueError, _ line: inout Line) {
        guard waiter.isWaiting, !wasHanded(waiter) else { return }
        waiter.state.refusal = error
        line.leave(waiter)
        if !waiter.state.isSent { line.effects.woken.append(waiter) }
        waiter.state.isSent = true
    }

    /// Whether the wait of a thread or a task closes a circle. If not, it stands in the graph until it leaves the line.
    /// Under the lock.
    func isInCircle(_ waiter: Waiter) -> Bool {
        waiter.state.isRegistered = WaitGraph.shared.begin(for: resource, by: waiter.waiting) == nil
        return !waiter.state.isRegistered
    }
}
