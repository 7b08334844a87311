//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

extension TurnQueue {
    /// Puts a command in line for its target queue, and returns at once.
    ///
    /// - Returns: The command and its lane, or why it was not accepted.
    @usableFromInline func submit(
        _ command: consuming PendingCommand,
        in target: DispatchQueue
    ) -> Result<AcceptedCommand, QueueSafeValueError> {
        if let lane = update({ $0.accept(command, for: target, of: self) }) {
            return .success(AcceptedCommand(command: command, lane: lane))
        }
        tell([command], .commandQueueFull, on: target)
        return .failure(.commandQueueFull)
    }

    /// Cancels all commands that wait in line.
    ///
    /// - Parameter priority: Of which priority; `nil` for all.
    /// - Returns: How many.
    func cancelAll(_ priority: CommandPriority?) -> Int {
        let (callerCount, commands) = update { $0.cancelAll(priority) }
        // All are told before anything goes away: that may wait for one that is told.
        for (lane, ended) in commands { tell(ended, .cancelled, on: lane.target) }
        for (lane, ended) in commands { ended.forEach { $0.releaseAndNotify(lane) } }
        return commands.reduce(callerCount) { $0 + $1.1.count }
    }

    /// Takes one command out, unless it has begun.
    ///
    /// - Returns: Whether this call did.
    func cancel(_ command: PendingCommand, of lane: Lane) -> Bool {
        guard update({ $0.cancel(command, of: lane) }) else { return false }
        tell([command], .cancelled, on: lane.target)  // fault: cancelled, it is not told
        command.releaseAndNotify(lane)
        return true
    }

    /// Tells the callers of commands on the target queue why these do not run.
    private func tell(_ commands: [PendingCommand], _ error: QueueSafeValueError, on target: DispatchQueue) {
        nonisolated(unsafe) let tells = commands.compactMap { $0.fail(error) }
        if unsafe !tells.isEmpty { target.async { unsafe tells.forEach { $0.perform() } } }
    }

    /// The value goes away. Nothing uses it any more: refuses the commands that still wait, as it is suspended.
    func end() {
        let refused = withLine { line in line.end().map { ($0, $0.endAll(nil, as: .refused)) } }
        for (lane, commands) in refused where !commands.isEmpty {
            tell(commands, .valueContainerDeinited, on: lane.target)
            // The commands are released on the target queue. The thread that drops the value may have another turn, for
            // which a released closure may wait. On a serial queue this comes after all are told, as a closure may wait
            // for one of them.
            nonisolated(unsafe) let commands = commands
            lane.target.async { unsafe commands.forEach { $0.releaseAndNotify(lane) } }
        }
    }
}
