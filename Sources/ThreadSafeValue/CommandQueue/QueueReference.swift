//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A command queue, whatever its value, as the handles of its commands, the timers and the listeners see it.
protocol AnyCommandQueue: AnyObject {
    var valueType: any Any.Type { get }

    /// The turn, and the line for it. Keep the queue while you use it.
    var turns: TurnQueue { get }

    /// Notes for those who listen how a command has left the value; only with the turn.
    ///
    /// - Returns: What to tell them, without the turn.
    func recordChange() -> Batch.Delivery?
}

/// What handles, timers and listeners keep instead of the queue, which goes away while they are kept.
///
/// It has no `weak` member: once an object has had a weak reference, its strong ones are counted in a table beside it,
/// and each counting takes longer. Where two threads submit, that was a fifth of their time.
///
/// `@unchecked Sendable`: the pointers are written once, before this is shared; the rest is guarded by the lock.
@safe
@usableFromInline
final class QueueReference: @unchecked Sendable {
    // Not to be used once `isOver`.
    private unowned(unsafe) let owner: any AnyCommandQueue
    private let turns: TurnQueue

    // Held for moments, in which no code of the library's user runs; longer if the system has no thread for a timer.
    private let lock = PlatformLock()

    /// The queue has left its commands for good. Its `deinit` sets this first. Guarded by `lock`.
    private var isOver = false

    init(to queue: any AnyCommandQueue) {
        unsafe owner = queue
        turns = queue.turns
    }
}

extension QueueReference {
    /// Calls `body` with the turn and the line of the queue, unless that has gone. Its `deinit` may have begun, and
    /// waits until `body` returns.
    ///
    /// So `body` takes no reference to the queue, but those of blocks that it dispatches: the `deinit` would not see
    /// it, and it might be the last when it goes away, which is under the lock.
    ///
    /// - Returns: What `body` returned, or `nil` if the queue has gone.
    func withTurns<Answer>(_ body: (TurnQueue) -> Answer) -> Answer? {
        lock.around { isOver ? nil : body(turns) }
    }

    /// The queue, or `nil` once nobody keeps it.
    ///
    /// From the first time on, its references are counted in a table: only where it must be kept for longer.
    var queue: (any AnyCommandQueue)? {
        lock.around {
            if isOver { return nil }
            // With this one, no reference that goes away here is the last.
            let kept = unsafe Unmanaged<AnyObject>.passRetained(owner)
            defer { unsafe kept.release() }
            // It is `nil` from the start if the `deinit` of the queue has begun.
            weak let queue = unsafe owner
            return queue
        }
    }

    // What a queue that has gone has left is final.
    func state(of command: PendingCommand) -> PendingCommand.State {
        withTurns { $0.state(of: command) } ?? command.currentState
    }

    /// The queue goes away: `body` is the last to change its commands.
    func end<Answer>(_ body: () -> Answer) -> Answer {
        lock.around {
            isOver = true
            return body()
        }
    }
}

extension QueueReference: TimerTarget {
    func timerFired() {
        _ = withTurns { $0.timerFired() }
    }
}
