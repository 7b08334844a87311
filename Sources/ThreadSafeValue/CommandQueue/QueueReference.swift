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

/// What handles and timers keep instead of the queue, which goes away while they are kept.
///
/// `@unchecked Sendable`: the reference is written once, before this is shared; the rest is guarded by the lock.
@usableFromInline
final class QueueReference: @unchecked Sendable {
    weak private(set) var queue: (any AnyCommandQueue)?

    private let lock = PlatformLock()

    /// The queue has left its commands for good. Guarded by `lock`.
    private var isOver = false

    init(to queue: any AnyCommandQueue) {
        self.queue = queue
    }
}

extension QueueReference {
    func state(of command: PendingCommand) -> PendingCommand.State {
        if let queue { return withExtendedLifetime(queue) { queue.turns.state(of: command) } }
        while true {
            if let state = lock.around({ isOver ? command.currentState : nil }) { return state }
            // The queue's `deinit` has begun, on another thread, and comes here first.
            yieldProcessor()
        }
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
        guard let queue else { return }
        withExtendedLifetime(queue) { queue.turns.timerFired() }
    }
}
