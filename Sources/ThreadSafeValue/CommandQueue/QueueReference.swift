//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// A command queue, whatever its value, as the handles of its commands, the timers and the listeners see it.
protocol AnyCommandQueue: AnyObject {
    /// The turn, as something that is waited for.
    var resource: WaitGraph.Resource { get }

    var valueType: any Any.Type { get }

    /// Takes the turn on the calling thread, if that is possible in time.
    func takeTurn(_ priority: CommandPriority, until deadline: Deadline) -> QueueSafeValueError?

    /// Gives the turn of the calling thread back.
    ///
    /// - Returns: what tells those who listen, when the caller has given all its turns back.
    func giveTurnBack(afterChange isChange: Bool) -> () -> Void

    /// Takes a command out of the line, unless it has begun.
    ///
    /// - Returns: the target queue, where its caller is to be told; `nil` if it was too late.
    func cancel(_ command: PendingCommand) -> DispatchQueue?

    func state(of command: PendingCommand) -> PendingCommand.State

    /// The time of the successor is over.
    func timerFired()

    /// The first listener has come, or the last one has gone.
    func observe(_ isObserved: Bool)
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
        if let queue { return queue.state(of: command) }
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
    // Not inlined, so that the caller has no other reference to the queue.
    @inline(never)
    func timerFired() -> Unmanaged<AnyObject>? {
        guard let queue else { return nil }
        queue.timerFired()
        return unsafe .passRetained(queue)
    }
}
