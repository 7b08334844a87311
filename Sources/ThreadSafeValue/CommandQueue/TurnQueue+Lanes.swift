//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

extension TurnQueue {
    /// Puts a command in line for its target queue, and returns at once.
    ///
    /// - Returns: The command and its lane, or why it was not accepted.
    @usableFromInline
    func submit(
        _ priority: CommandPriority,
        in target: DispatchQueue,
        _ work: __owned @escaping PendingCommand.Work
    ) -> Result<AcceptedCommand, QueueSafeValueError> {
        let command = PendingCommand(priority, work)
        let lane = update { line -> Lane? in
            if isFull(line) { return nil }
            line.acceptedCount += 1
            let lane = line.lane(for: target, of: self)
            unsafe command.arrival = line.nextArrival()
            unsafe lane.commands.append(command)
            line.effects.changesNothing = lane.isInLine && priority <= lane.state.priority
            if line.effects.changesNothing { return lane }
            if !lane.isInLine, !lane.state.isSent { startBlock(lane, &line) }
            if !lane.isInLine, lane.target.identity == line.targetOfMainThread { lane.state.isLate = true }
            // A late lane gets its place when its block comes.
            if !lane.state.isLate { line.place(lane) }
            return lane
        }
        if let lane { return .success(AcceptedCommand(command: command, lane: lane)) }
        tell([command], .commandQueueFull, on: target)
        return .failure(.commandQueueFull)
    }

    /// Whether no more commands of queues and of tasks may wait. Threads do not count.
    func isFull(_ line: borrowing Line) -> Bool {
        line.limit != .max && pendingCount(line) - line.threadCount >= line.limit
    }

    /// How many commands have not begun: threads and tasks in line, and those of target queues.
    func pendingCount(_ line: borrowing Line, _ priority: CommandPriority? = nil) -> Int {
        guard let priority else { return line.callerCount + line.acceptedCount - Int(startedCount.load()) }
        return line.lanes.values.reduce(line.callers(priority).count) { $0 + $1.waiting(priority).count }
    }

    /// Cancels all commands that wait in line.
    ///
    /// - Parameter priority: Of which priority; `nil` for all.
    /// - Returns: How many.
    func cancelAll(_ priority: CommandPriority?) -> Int {
        let (callerCount, commands) = update { line in
            let callers = line.callers(priority).filter { !wasHanded($0) }
            for waiter in callers { refuse(waiter, .cancelled, &line) }
            let commands = line.lanes.values.map { ($0, $0.endAll(priority, as: .cancelled)) }
            for (lane, ended) in commands where !ended.isEmpty {
                line.acceptedCount -= ended.count
                placeAfterCancelling(lane, &line)
            }
            return (callers.count, commands)
        }
        // All are told before anything goes away: that may wait for one that is told.
        for (lane, ended) in commands { tell(ended, .cancelled, on: lane.target) }
        for (lane, ended) in commands { ended.forEach { $0.letGo(lane) } }
        return commands.reduce(callerCount) { $0 + $1.1.count }
    }

    /// Takes one command out, unless it has begun.
    ///
    /// - Returns: Whether this call did.
    func cancel(_ command: PendingCommand, of lane: Lane) -> Bool {
        let isCancelled = update { line in
            // Under the lock, so that what a block finds there waiting can be begun.
            guard command.move(.waiting, to: .cancelled) else { return false }
            line.acceptedCount -= 1
            unsafe lane.commands.noteCancelled()
            placeAfterCancelling(lane, &line)
            return true
        }
        if !isCancelled { return false }
        tell([command], .cancelled, on: lane.target)
        command.letGo(lane)
        return true
    }

    /// Some of the lane's commands were cancelled, perhaps its first or its last one. Under the lock.
    private func placeAfterCancelling(_ lane: Lane, _ line: inout Line) {
        // A block with a batch keeps the place of that.
        guard lane.isInLine, lane.batch.isEmpty else { return }
        line.place(lane)
        if lane.isInLine { return }
        // It was handed the turn for nothing.
        if wasHanded(lane) { line.effects.holder = 0 }
        line.removeIfIdle(lane)
    }

    /// Tells the callers of commands on the target queue why these do not run.
    private func tell(_ commands: [PendingCommand], _ error: QueueSafeValueError, on target: DispatchQueue) {
        nonisolated(unsafe) let tells = commands.compactMap { $0.refuse(error) }
        if unsafe !tells.isEmpty { target.async { unsafe tells.forEach { $0.perform() } } }
    }
}

extension Lane {
    /// Tells the callers of commands of a value that has gone, on the target queue.
    func refuse(_ commands: [PendingCommand]) {
        for command in commands { command.refuse(.valueContainerDeinited)?.perform() }
        // Once all have been told, if it is a serial queue: what goes away may wait for one of them.
        target.async { commands.forEach { $0.letGo(self) } }
    }
}
