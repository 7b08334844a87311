//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// What the monitor sees inside of the lines.

extension Monitor {
    func watch(_ storage: CommandQueueStorage<Cell>) {
        let (turns, word) = (storage.turns, unsafe storage.word(0).storage)
        unsafe word.pointee.role = .turn(watched.count)
        watched.append(unsafe Watched(storage: storage, turns: turns, lock: turns.lock, word: word))
    }

    /// The value whose line a lock guards.
    func value(guardedBy lock: PlatformLock) -> Int? { watched.firstIndex { $0.lock === lock } }

    func lockIsFree(of value: Int) -> Bool { watched[value].lock.holder == nil }

    func lockTaken(of value: Int) { world.current.lockedValue = value }

    /// A thread gives the lock of a line back.
    ///
    /// - Returns: one number for all that the lock guards.
    func lockGoes(of value: Int) -> UInt64 {
        let turns = watched[value].turns!
        var sum: UInt64 = 0
        if unsafe turns.line.hasLostLane { world.fail("a lane stands in line, and no command finds it") }
        if unsafe !turns.line.isOver {
            for thread in world.threads {
                guard let waiter = thread.waiter else { continue }
                sum &+= mix(UInt64(thread.index), waiter.stateContents)
                unsafe noteWaiter(of: thread, waiter, turns.line, value)
            }
            for note in notes where note.command.value == value {
                guard let accepted = note.accepted else { continue }
                let bit: UInt64 = 1 << note.command.index
                late = accepted.lane.state.standing == .late ? late | bit : late & ~bit
            }
        }
        return unsafe mix(sum, turns.line.contents)
    }

    /// A thread or a task surely stands in line, or does not.
    private func noteWaiter(of thread: VirtualThread, _ waiter: Waiter, _ line: borrowing Line, _ value: Int) {
        guard let index = thread.commands.last, notes[index].command.value == value else { return }
        let isThere = waiter.state.standing == .inLine && line.waiters.elements.contains { $0 === waiter }
        if !isThere { return inLine &= ~(1 << index) }
        inLine |= 1 << index
        if notes[index].phase == .issued { notes[index].phase = .inLine }
    }

    /// The commands of lanes, and the tasks, that have no place in line at the moment.
    var lateNow: UInt64 {
        var mask: UInt64 = 0
        for note in notes where inLine & (1 << note.command.index) != 0 && note.accepted?.lane.state.standing == .late {
            mask |= 1 << note.command.index
        }
        for thread in world.threads where thread.waiter?.state.standing == .late {
            if let index = thread.commands.last { mask |= 1 << index }
        }
        return mask
    }

    /// While nobody has the lock of a line, the word says what is true of it, and what is due is on its way (rules 3 and 5).
    func checkLines() {
        for (value, watched) in watched.enumerated() where watched.lock.holder == nil && watched.storage != nil {
            guard let turns = watched.turns else { continue }
            let turn = unsafe TurnWord(bits: watched.word.pointee.bits)
            let summary = unsafe TurnWord(holder: turn.holder, of: turns.line)
            if turn.bits != summary.bits {
                world.fail("the word of value \(value) says \(turn.text), but its line \(summary.text)")
            }
            guard !turn.isSuspended, let front = unsafe turns.line.front else { continue }
            if turn.isFree, !front.state.needsNoWake {
                world.fail("value \(value) is free, and its front is not sent for")
            }
            let isBesideOthers = unsafe turns.line.waiters.elements.count > 1
            if isBesideOthers, front.state.dueTime <= world.clock, unsafe !turns.line.timerRuns {
                world.fail("the front of value \(value) is late, and nothing looks")
            }
        }
    }

    /// Whether the holder of the turn that a command waits for waits, through others, for one that the calling thread
    /// has.
    func isInCircle(_ command: Command) -> Bool {
        var value = command.value
        for _ in 0...watched.count {
            let turn = unsafe TurnWord(bits: watched[value].word.pointee.bits)
            if world.current.isKnown(as: turn.holder) { return value != command.value }
            guard let thread = world.threads.first(where: { $0.isKnown(as: turn.holder) }),
                thread.waiter?.state.isRegistered == true, let index = thread.commands.last
            else { return false }
            value = notes[index].command.value
        }
        return false
    }

    /// What is still in the line of a value, though nothing should be.
    func rest(of value: Int) -> String? {
        let turn = unsafe TurnWord(bits: watched[value].word.pointee.bits)
        guard watched[value].storage != nil, let turns = watched[value].turns else { return nil }
        if !turn.isFree || !turn.isLineEmpty { return "the word says \(turn.text)" }
        return unsafe turns.line.rest
    }
}

extension Line {
    /// Whether a lane in line is not the one of its queue.
    fileprivate var hasLostLane: Bool {
        for lane in waiters.elements.compactMap(\.lane) where lanes[lane.target.identity] !== lane { return true }
        return false
    }

    /// The entries that are left, though none should be.
    fileprivate var rest: String? {
        if !waiters.elements.isEmpty || !watchers.isEmpty || !lateTasks.isEmpty { return "something waits" }
        if timerRuns { return "the timer runs" }
        if lanes.values.contains(where: { $0.running != nil || !$0.commands.isEmpty }) { return "a lane has not ended" }
        if pendingCount() != 0 { return "\(pendingCount()) commands are counted" }
        return lanes.count > 1 ? "\(lanes.count) lanes are kept" : nil
    }
}

extension PendingCommand {
    /// Its state, without a step.
    var stateNow: CommandState {
        let bits = unsafe word.storage.pointee.bits
        return CommandState(rawValue: bits & Self.stageMask) ?? .running
    }

    var isWaiting: Bool { stateNow == .waiting }
}

extension TurnWord {
    fileprivate var text: String { String(bits, radix: 16) }
}

extension Monitor.Phase: CustomStringConvertible {
    var description: String { ["not yet issued", "issued", "in line", "running", "ended"][Int(rawValue)] }
}
