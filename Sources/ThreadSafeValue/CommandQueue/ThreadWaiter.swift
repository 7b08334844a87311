//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// How a thread waits for a turn. It waits in one place at a time, so it has one for its life, and to wait allocates
/// nothing.
@safe
final class ThreadWaiter: Waiter, @unchecked Sendable {
    /// Where the thread sleeps. Each sleep ends with exactly one wake-up.
    let parker = Parker()

    /// The task in which the thread waits, or 0.
    fileprivate var task: UInt64 = 0

    /// The lanes whose blocks are on the stack of the thread, which alone uses this.
    var blocks: [Lane] = []

    init() {
        super.init(kind: .thread)
        identity = currentThreadIdentity()
    }

    override func wake() {
        parker.wake()
    }

    override var waiting: WaitGraph.Waiting { WaitGraph.Waiting(thread: identity, task: task) }

    private static let waiters = ThreadLocal<ThreadWaiter>(keeps: true)

    /// That of the calling thread.
    static var current: ThreadWaiter {
        if let known = waiters.object { return known }
        // All that a wait needs is made now.
        _ = WaitGraph.shared
        let waiter = ThreadWaiter()
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
        let thread = TurnWord.currentThread
        if tryToTakeTurn(priority, as: thread, timeout == 0 ? .none : .beforeParking) { return nil }
        let task = currentTaskIdentity()
        let failure: QueueSafeValueError? =
            if turn.isHeld(by: thread, or: task) {
                .reentrantCommand
            } else if timeout == 0 {
                .timedOut
            } else {
                stand(priority, until: Deadline(after: timeout), task: task, isWatching: false)
            }
        return failure?.reported(for: valueType, "wait.\(priority)Priority")
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
        // A listener may have come to begin with the value as it is.
        let delivery = recordChange(false)
        return stand(priority, until: deadline, task: currentTaskIdentity(), isWatching: true, telling: delivery)?
            .reported(for: valueType, "wait.\(priority)Priority")
    }

    /// Stands in line, now or after the next change, until the thread has the turn or does not get it.
    private func stand(
        _ priority: CommandPriority,
        until deadline: Deadline,
        task: UInt64,
        isWatching: Bool,
        telling delivery: Effect? = nil
    ) -> QueueSafeValueError? {
        let waiter = ThreadWaiter.current
        let isOnMainQueue = DispatchQueue.isMain
        waiter.task = task
        let started = update { line, holder in
            line.enter(waiter, priority, isWatching: isWatching)
            if isWatching { holder = 0 }
            watch(&line)
            return passLanesBelow(waiter, isOnMainQueue: isOnMainQueue, &line, &holder)
        }
        started?.start()
        delivery?.perform()
        sleep(waiter, until: deadline)
        waiter.leavesGraph()
        if isOnMainQueue { withLine { $0.mainThreadWaits = false } }
        return waiter.state.refusal
    }

    private func sleep(_ waiter: ThreadWaiter, until deadline: Deadline) {
        while !looks(waiter), update({ line, _ in rests(waiter, &line) }) {
            let time = deadline.isTime ? deadline.time : waiter.state.isRegistered ? .max : now() + HandoffPolicy.circle
            if !waiter.parker.park(until: time) {
                if deadline.isTime {
                    refuse(waiter, .timedOut)
                } else if withLine({ _ in waiter.state.isWaiting && !waiter.hasTurn && isInCircle(waiter) }) {
                    refuse(waiter, .circularWait)
                }
                waiter.parker.park()
            }
            if waiter.hasTurn { return }
            let isRefused = update { line, _ in
                waiter.state.isLooking = true
                // It came in vain.
                if line.front === waiter { waiter.state.isOwed = true }
                return waiter.state.refusal != nil
            }
            if isRefused { return }
        }
    }

    /// Looks for the turn for a moment, from its place in line.
    ///
    /// - Returns: Whether it has the turn.
    private func looks(_ waiter: ThreadWaiter) -> Bool {
        var backoff = Backoff.beforeParking
        repeat {
            if waiter.hasTurn { return true }
            if turn.mayBeTaken(byFront: waiter.priority),
                update({ line, _ in waiter.hasTurn || take(waiter, &line) })
            {
                return true
            }
        } while backoff.pause()
        return false
    }

    /// The thread or the task takes the turn, if it is the front. Under the lock.
    func take(_ waiter: Waiter, _ line: inout Line) -> Bool {
        guard takeTurn(line, for: waiter, as: waiter.identity) else { return false }
        line.leave(waiter)
        return true
    }

    /// Whether the thread is to sleep until it is woken. Under the lock.
    private func rests(_ waiter: ThreadWaiter, _ line: inout Line) -> Bool {
        // An async closure may need this very thread of the pool to end.
        if waiter.task != 0, turn.isHeldByAsyncClosure { _ = line.refuse(waiter, .circularWait) }
        if waiter.state.refusal != nil || waiter.hasTurn || take(waiter, &line) { return false }
        (waiter.state.isSent, waiter.state.isLooking) = (false, false)
        warnOfSleep(waiter, &line)
        return true
    }

    /// Takes a thread or a task out of line, unless it was handed the turn.
    func refuse(_ waiter: Waiter, _ error: QueueSafeValueError) {
        if update({ line, _ in line.refuse(waiter, error) }) { waiter.wake() }
    }

    /// Whether the wait of a thread or a task closes a circle. If not, it stands in the graph until it leaves the line.
    /// Under the lock.
    func isInCircle(_ waiter: Waiter) -> Bool {
        waiter.state.isRegistered = WaitGraph.shared.begin(for: resource, by: waiter.waiting) == nil
        return !waiter.state.isRegistered
    }

    /// An async closure takes the turn: threads of the pool must not sleep until it ends.
    func refuseThreadsInTasks() {
        let refused = update { line, _ in
            line.callers(nil).compactMap { $0 as? ThreadWaiter }
                .filter { $0.task != 0 && line.refuse($0, .circularWait) }
        }
        refused.forEach { $0.wake() }
    }

    /// A debug build says once for each value that a thread of a task sleeps. Under the lock.
    private func warnOfSleep(_ waiter: ThreadWaiter, _ line: inout Line) {
        #if DEBUG
        if waiter.task == 0 || line.hasWarnedOfSleep { return }
        line.hasWarnedOfSleep = true
        CommandMistake.writeLine(
            "ThreadSafeValue: QueueSafeValue<\(valueType)>: a `wait` lets a thread sleep that tasks need. Use await value.async"
        )
        #endif
    }
}

extension DispatchQueue {
    private static let mainKey = {
        let key = DispatchSpecificKey<Bool>()
        main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the calling thread keeps the main queue from running.
    fileprivate static var isMain: Bool { getSpecific(key: mainKey) == true }
}
