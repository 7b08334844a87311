//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// A command that was accepted, and its lane.
///
/// `@unchecked Sendable`: the lock of the line and the state guard the members of a command.
@usableFromInline struct AcceptedCommand: @unchecked Sendable {
    let command: PendingCommand
    let lane: Lane
}

/// The answer of the closure of a command, or why it failed.
@usableFromInline final class CommandAnswer<Answer: Sendable>: Sendable {
    let result: Result<Answer, QueueSafeValueError>

    @usableFromInline init(_ result: Result<Answer, QueueSafeValueError>) { self.result = result }
}

extension AcceptedCommand {
    private var isPending: Bool { command.state == .waiting || command.state == .running }

    /// Whether the command waits for a turn that the caller has.
    var waitsForCaller: Bool {
        let (thread, task) = (currentThreadIdentity(), currentTaskIdentity())
        return isPending && lane.turns.withLine { !$0.isOver && $0.turn.isHeld(by: thread, or: task) }
    }

    /// Whether the command may need the calling thread: the main thread, as its queue is the target; or a thread of a task,
    /// as an async closure has the turn.
    var needsCallingThread: Bool {
        let (main, isInTask) = (DispatchQueue.main.identity, currentTaskIdentity() != 0)
        if lane.target.identity == main, DispatchQueue.isMain { return isPending }
        return isInTask && isPending && lane.turns.withLine { !$0.isOver && $0.turn.isHeldByAsyncClosure }
    }

    /// The answer to a caller that would wait for itself.
    func mistake<Answer>(_ error: QueueSafeValueError) -> Result<Answer, QueueSafeValueError> {
        .failure(error.reported(for: lane.turns.valueType, "a wait for the handle of a command"))
    }

    /// Calls a closure when the command is over, for a thread that sleeps, if there is one.
    ///
    /// - Returns: `false` if it is over already.
    func notifyAtEnd(_ notify: @escaping () -> Void, for parker: Parker? = nil) -> Bool {
        lane.turns.withLine { _ in command.notifyAtEnd(Notification(notify), parker) }
    }

    /// Lets the calling thread sleep until the command is over.
    ///
    /// - Returns: Whether it is over.
    func wait(until deadline: Deadline) -> Bool {
        let parker = Parker()
        if !notifyAtEnd({ parker.wake() }, for: parker) || parker.park(until: deadline.time) { return true }
        lane.turns.withLine { _ in command.forget(parker) }
        return false
    }

    /// How the command has ended.
    func result<Answer: Sendable>() -> Result<Answer, QueueSafeValueError> {
        if command.state == .cancelled { return .failure(.cancelled) }
        if command.state == .refused { return .failure(.valueContainerDeinited) }
        guard let answer = command.members.answer else { return .success(() as! Answer) }
        return unsafe unsafeDowncast(answer, to: CommandAnswer<Answer>.self).result
    }
}
