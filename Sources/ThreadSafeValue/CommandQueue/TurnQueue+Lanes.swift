//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

/// The lanes of a value that have commands or a block, and the latest.
struct Lanes {
    private var all: [UInt: Lane] = [:]
    private var latest: Lane?
}

extension Lanes {
    var lanes: some Collection<Lane> { all.values }

    /// The lane of a target queue; a new one if there is none. O(1).
    mutating func lane(for target: DispatchQueue, of turns: TurnQueue) -> Lane {
        let identity = target.identity
        if let latest, latest.targetIdentity == identity { return latest }
        let lane = all[identity] ?? Lane(target: target, of: turns)
        let former = latest
        latest = lane
        if let former { removeIfIdle(former) }
        all[identity] = lane
        return lane
    }

    func lane(ofQueue identity: UInt) -> Lane? { all[identity] }

    mutating func removeIfIdle(_ lane: Lane) {
        if !lane.hasBlock, lane !== latest, lane.commands.isEmpty { all[lane.targetIdentity] = nil }
    }

    /// The value goes away.
    mutating func removeAll() -> [Lane] {
        defer { (all, latest) = ([:], nil) }
        return Array(all.values)
    }
}

extension TurnQueue {
    /// Puts a command in line for its target queue, and returns at once.
    ///
    /// - Returns: The command and its lane, or why it was not accepted.
    @usableFromInline
    func submit(
        _ priority: CommandPriority,
        in target: DispatchQueue,
        _ work: PendingCommand.Work
    ) -> Result<AcceptedCommand, QueueSafeValueError> {
        let command = PendingCommand(priority, work)
        let (accepted, sent) = update { line, _ -> (Lane?, Sent?) in
            guard line.limit == .max || pendingCount(line) < line.limit else { return (nil, nil) }
            line.acceptedCounts[Int(priority.level)] += 1
            let lane = line.lanes.lane(for: target, of: self)
            command.fields.arrival = line.nextArrival()
            lane.commands.append(command)
            if lane.isInLine {
                if priority > lane.priority { line.place(lane) }
                return (lane, nil)
            }
            // It is new, or its block is about to look for more, or is late.
            if !lane.state.isLate, !isBelowMainThread(lane, line) {
                lane.state.isSent = true
                line.place(lane)
            }
            watch(&line)
            return (lane, lane.hasBlock ? nil : startBlock(lane))
        }
        sent?.start()
        return accepted.map { .success(AcceptedCommand(command: command, lane: $0)) } ?? .failure(.commandQueueFull)
    }

    /// A new block of the lane is about to be dispatched. Under the lock.
    func startBlock(_ lane: Lane) -> Sent {
        lane.startBlock()
        lane.state.sentTime = now()
        return sent(lane)
    }

    /// How many commands have not begun: threads and tasks in line, and those of target queues.
    func pendingCount(_ line: borrowing Line, _ priority: CommandPriority? = nil) -> Int {
        guard let priority else {
            return CommandPriority.allCases.reduce(line.waiters.callerCount) { $0 + laneCount(line, $1) }
        }
        return line.callers(priority).count + laneCount(line, priority)
    }

    private func laneCount(_ line: borrowing Line, _ priority: CommandPriority) -> Int {
        line.acceptedCounts[Int(priority.level)] - Int(startedCount(priority).load())
    }

    /// Cancels all commands that wait in line.
    ///
    /// - Parameter priority: Of which priority; `nil` for all.
    /// - Returns: How many.
    func cancelAll(_ priority: CommandPriority?) -> Int {
        let (callers, commands) = update { line, holder in
            let callers = line.callers(priority).filter { $0.state.isWaiting && !$0.hasTurn }
            let woken = callers.filter { line.refuse($0, .cancelled) }
            let commands = Array(line.lanes.lanes).map { ($0, $0.commands.endAll(priority, as: .cancelled)) }
            for (lane, ended) in commands where !ended.isEmpty {
                for command in ended { line.acceptedCounts[Int(command.priority.level)] -= 1 }
                placeAfterCancelling(lane, &line, &holder)
            }
            return ((callers.count, woken), commands)
        }
        callers.1.forEach { $0.wake() }
        for (lane, ended) in commands { lane.tell(ended, .cancelled) }
        return commands.reduce(callers.0) { $0 + $1.1.count }
    }

    /// Takes one command out, unless it has begun.
    ///
    /// - Returns: Whether this call did.
    func cancel(_ command: PendingCommand, of lane: Lane) -> Bool {
        guard command.move(.waiting, to: .cancelled) else { return false }
        update { line, holder in
            line.acceptedCounts[Int(command.priority.level)] -= 1
            lane.commands.noteCancelled()
            placeAfterCancelling(lane, &line, &holder)
        }
        lane.tell([command], .cancelled)
        return true
    }

    /// Some of the lane's commands were cancelled, perhaps its first or its last one.
    private func placeAfterCancelling(_ lane: Lane, _ line: inout Line, _ holder: inout UInt64?) {
        // A block with a batch keeps the place of that.
        guard lane.isInLine, lane.commands.batch.isEmpty else { return }
        line.place(lane)
        if lane.isInLine { return }
        // It was handed the turn for nothing.
        if lane.hasTurn { holder = 0 }
        lane.hasTurn = false
        line.lanes.removeIfIdle(lane)
    }
}

extension Lane {
    /// Tells the callers of commands that do not run why, on the target queue. The closures go away here, those that
    /// tell there.
    func tell(_ commands: [PendingCommand], _ error: QueueSafeValueError) {
        nonisolated(unsafe) let tells = commands.compactMap { $0.refuse(error) }
        if unsafe !tells.isEmpty { target.async { unsafe tells.forEach { $0.perform() } } }
        for command in commands { command.letGoRefused(self) }
    }

    /// The same on the target queue, for a value that has gone.
    func refuse(_ commands: [PendingCommand]) {
        for command in commands { command.refuse(.valueContainerDeinited)?.perform() }
        // Once all have been told, if it is a serial queue: what goes away may wait for one of them.
        target.async { for command in commands { command.letGoRefused(self) } }
    }
}
