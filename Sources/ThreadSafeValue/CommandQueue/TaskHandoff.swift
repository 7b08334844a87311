//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A turn on its way to a task, which is resumed with it, and whose executor may let it go on late, or never.
///
/// Either the task takes the turn when it goes on, or the timer takes it back: then the others go on, and the task
/// stands in line again. Whoever makes a handoff keeps the queue until the task has come.
final class TaskHandoff: Sendable {
    /// What is known of the executor of a task that came in vain.
    struct Lateness {
        /// How long it took, in nanoseconds.
        var delay: UInt64 = 0
        /// How often in a row.
        var misses: UInt64 = 0
    }

    private let reference: QueueReference
    private let lateness: Lateness
    private let start = now()

    /// Takes the turn back; `nil` once it was taken, or taken back.
    private let timer = Protected<Timer?>(nil)

    fileprivate init(after lateness: Lateness, _ reference: QueueReference) {
        self.reference = reference
        self.lateness = lateness
    }
}

extension TurnQueue {
    /// Hands the turn of the caller to a task that is about to go on.
    ///
    /// - Parameters:
    ///   - body: Who has the turn from now on.
    ///   - lateness: What is known of the executor.
    /// - Returns: What the task takes it from.
    func handTurn(to body: TaskBody, after lateness: TaskHandoff.Lateness) -> TaskHandoff {
        moveTurn(to: body.holder)
        let handoff = TaskHandoff(after: lateness, weakReference())
        // What the executors of other tasks took counts too.
        let delay = max(lateness.delay, taskDelay.load())
        // Until it is in time, however late: two tasks of one slow executor would come in vain for ever, each while the
        // turn is kept for the other.
        handoff.keepTurn(for: policy.keeping(afterDelay: delay, misses: lateness.misses, doublings: 30))
        return handoff
    }
}

extension TaskHandoff {
    fileprivate func keepTurn(for nanoseconds: UInt64) {
        // Under the lock: the timer may fire at once.
        timer.write { $0 = TimerThreads.turns.set(start &+ nanoseconds, for: self) }
    }

    /// The task goes on.
    ///
    /// - Parameter turns: The queue.
    /// - Returns: `nil` if it has the turn, or what to know of its executor for the next time.
    func takeTurn(of turns: TurnQueue) -> Lateness? {
        let timer = timer.exchange(nil)
        let delay = now() - start
        // Seldom written: it is beside the word of the turn.
        let known = delay > turns.policy.keeping ? delay : 0
        if turns.taskDelay.load() != known { turns.taskDelay.store(known) }
        guard let timer else { return Lateness(delay: max(delay, lateness.delay), misses: lateness.misses + 1) }
        TimerThreads.turns.remove(timer)
        return nil
    }
}

extension TaskHandoff: TimerTarget {
    func timerFired() {
        // Under the lock, for which the task waits: it keeps the queue.
        timer.write { timer in
            if timer == nil { return }
            timer = nil
            _ = reference.withTurns { $0.freeTurn() }
        }
    }
}
