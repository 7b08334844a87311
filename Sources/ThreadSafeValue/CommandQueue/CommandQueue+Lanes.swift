//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

// Commands that run on a target queue.

extension CommandQueue {
    /// Puts a command in line for its target queue and returns at once.
    ///
    /// - Parameters:
    ///   - priority: how early it gets its turn.
    ///   - target: the queue where the command runs.
    ///   - endsRun: whether `work` may answer anything but `.read` and `.changed`.
    ///   - work: what to run there, once the command has the turn.
    /// - Returns: the command that was accepted, or why none was; then `work` is never called.
    @usableFromInline
    func submit(
        _ priority: CommandPriority,
        in target: DispatchQueue,
        endsRun: Bool,
        work: @escaping PendingCommand.Work
    ) -> Result<PendingCommand, QueueSafeValueError> {
        carryOut { line, errands in
            let seen = turn
            guard !seen.isClosed else { return .failure(.valueContainerDeinited) }
            guard storage.limit == .max || line.laneCount < storage.limit else { return .failure(.commandQueueFull) }
            let lane = line.lane(for: target) ?? line.add(Lane(target: target, of: storage))
            let command = unsafe PendingCommand(priority, in: lane, endsRun: endsRun, run: work)
            line.append(command)
            // Behind others, with whom all is settled already, nothing changes.
            let isBehind = seen.waiting >= priority.level
            let isSettled = seen.isSummoned ? line.isPromised(to: lane) : !seen.isFree
            if !(isBehind && isSettled) { settle(&line, &errands) }
            return .success(command)
        }
    }

    /// The block that a lane sends to its target queue: runs the lane's commands for as long as they are next.
    func serve(_ lane: Lane) {
        // What commands let go may run code of its own when it goes away, so they go away without the turn.
        var spent = CommandRun()
        // Those who listen are told without the turn too.
        var deliveries: [ChangeHub<Value>.Delivery] = []
        // Whether somebody waits for that. Not asked of the list each time: without specialisation that is a lookup of its type.
        var isAwaited = false
        func deliver() {
            for delivery in deliveries { delivery.deliver() }
            deliveries.removeAll()
            isAwaited = false
        }
        defer {
            spent.removeAll()
            deliver()
        }
        var served = 0
        var run = beginRun(of: lane)
        while !run.isEmpty {
            // With the turn, and commands to run.
            while var command = run.popFirst() {
                if start(&command) {
                    let ending = execute(command)
                    if ending.isChange, turn.isObserved, let delivery = recordChange() {
                        deliveries.append(delivery)
                        isAwaited = delivery.isAwaited
                    }
                    switch ending {
                    case .read, .changed: break
                    case .readThen(let tell), .changedThen(let tell):
                        // What `tell` runs is not part of the command: others may have the turn meanwhile.
                        giveTurnBack(of: TurnWord.currentThread, afterChange: false)
                        deliver()
                        return tell()
                    case .kept: return
                    }
                }
                spent.append(command)
                served += 1
                let turn = turn
                if turn.waiting > command.priority.level || turn.isSuspended || isAwaited { break }
            }
            switch endRun(&run, of: lane, served: served, toDeliver: isAwaited) {
            case .goOn: break
            case .leave: return
            case .stay:
                spent.removeAll()
                deliver()
                awaitCommand()
                run = beginRun(of: lane)
            }
        }
    }

    /// Whether a command of a run may begin: it may have been cancelled, as long as somebody else had it too.
    ///
    /// One that nobody else has any more needs no lock: all others have let go of it, after what they did to it. Its count
    /// of references says so, and the fence orders what is read here behind that.
    private func start(_ command: inout PendingCommand) -> Bool {
        guard isKnownUniquelyReferenced(&command) else { return storage.line.write { _ in command.start() } }
        fenceAcquiring()
        return command.start()
    }

    private func execute(_ command: PendingCommand) -> PendingCommand.Ending {
        unsafe command.run?(UnsafeMutableRawPointer(value)) ?? .read
    }

    private enum Next {
        case goOn
        case leave
        case stay
    }

    /// Takes the turn for a lane whose block is there, and its commands that are next, if there are any.
    private func beginRun(of lane: Lane) -> CommandRun {
        carryOut { line, errands in
            line.arrived(lane)
            defer { settle(&line, &errands) }
            guard let command = line.best, command.runs(in: lane), takeTurn(for: command, in: line) else {
                return CommandRun()
            }
            return line.takeRun(of: lane)
        }
    }

    /// Keeps the turn for more of the lane's commands if they are next, else gives it back.
    ///
    /// If nothing waits, the block stays for a moment: it is as if it was on its way again. So it is if its commands are
    /// next, but somebody waits to be told of the last one.
    private func endRun(_ run: inout CommandRun, of lane: Lane, served: Int, toDeliver: Bool) -> Next {
        carryOut { line, errands in
            defer { settle(&line, &errands) }
            line.putBack(&run, to: lane)
            let best = line.best
            let mayGoOn = line.mayGoOn(served: served)
            let isNext = best?.runs(in: lane) ?? false
            if mayGoOn, isNext, !line.isSuspended, !toDeliver {
                run = line.takeRun(of: lane)
                return .goOn
            }
            _ = word.subtractReleasing(TurnWord.currentThread)
            let stays = mayGoOn && (best == nil || isNext && toDeliver)
            line.left(lane, staying: stays)
            return stays ? .stay : .leave
        }
    }

    /// Looks for a moment, without the turn, whether another command comes: sending a block costs far more than that.
    private func awaitCommand() {
        var backoff = storage.backoff
        while turn.waiting == 0, backoff.pause() {}
        // It seldom comes alone, and each time that the line is looked at holds up those who submit.
        for _ in 0..<64 { pauseSpinning() }
    }
}
