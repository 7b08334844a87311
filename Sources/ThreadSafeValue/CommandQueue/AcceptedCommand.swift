//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A command that was accepted, and its lane.
@usableFromInline
struct AcceptedCommand: Sendable {
    let command: PendingCommand
    let lane: Lane
}

/// What the closure of a command returned, or why it failed.
@usableFromInline
final class CommandAnswer<Answer: Sendable>: Sendable {
    let result: Result<Answer, QueueSafeValueError>

    @usableFromInline
    init(_ result: Result<Answer, QueueSafeValueError>) {
        self.result = result
    }
}

extension AcceptedCommand {
    /// Whether the command waits for a turn that the caller has.
    var waitsForCaller: Bool {
        command.state == .waiting
            && lane.turns.withLine { !$0.isOver && $0.turn.isHeld(by: currentThreadIdentity(), or: currentTaskIdentity()) }
    }

    /// Calls a closure when the command is over.
    ///
    /// - Returns: `false` if it is over already.
    func notifyAtEnd(_ notify: @escaping () -> Void) -> Bool {
        lane.turns.withLine { _ in command.notifyAtEnd(Notification(notify)) }
    }

    /// How the command has ended.
    func result<Answer: Sendable>() -> Result<Answer, QueueSafeValueError> {
        if command.state == .cancelled { return .failure(.cancelled) }
        if command.state == .refused { return .failure(.valueContainerDeinited) }
        guard let answer = unsafe command.answer else { return .success(() as! Answer) }
        return unsafe unsafeDowncast(answer, to: CommandAnswer<Answer>.self).result
    }
}
