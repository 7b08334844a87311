//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Watches the commands of an execution from outside, and says what breaks a rule or a promise.
///
/// A `wait` and a task surely stand in line when the lock of the line is given back with them there; a command of a
/// queue does when its submission has returned. See `Monitor+Lines` for what it sees inside.
final class Monitor {
    enum Phase: UInt64 {
        case fresh, issued, inLine, running, ended
    }

    struct Note {
        let command: Command
        var phase = Phase.fresh
        /// Which commands surely stood in line when this one was issued.
        var ahead: UInt64 = 0
        /// What its submission has returned.
        var accepted: AcceptedCommand?
        var doneWasDropped = false
        var ran = false
        /// A thread tries to cancel it, or has.
        var mayBeCancelled = false
        var taskMayBeCancelled = false
        /// An async closure had the turn while this waited for that.
        var hasMetAsync = false
        var wasCancelled = false
        /// Its handle said that it waits, after its value was suspended, and that is suspended still.
        var isHeldBack = false
        var completions = 0
        /// How many commands had changed its value when it began to wait for the next change.
        var changesSeen: UInt64 = 0
        /// The least and the greatest priority that it may have had when the holder of the turn looked last; and the one
        /// that it has, unless a thread changes that.
        var priorities: ClosedRange<CommandPriority>
        var priority: CommandPriority?
    }

    /// What was true of a line at one moment.
    struct Look {
        /// The commands that surely stood in line.
        var inLine: UInt64 = 0
        var isSuspended = false
    }

    /// A value, as it is seen from outside and from inside.
    struct Watched {
        weak var storage: CommandQueueStorage<Cell>?
        weak var turns: TurnQueue?
        let lock: PlatformLock
        let word: UnsafeMutablePointer<AtomicWord.Storage>
        /// How many handles there are, and how many suspensions.
        var handles = 0
        var suspensions = 0
        var isSurelySuspended = false
        /// When the turn was taken last, or handed to its holder.
        var taken = Look()
        /// How many commands have begun since then.
        var begun = 0
        /// When the holder of the turn looked at the word last.
        var latest = Look()
        /// An async closure took it.
        var hasAsyncClosure = false
    }

    var notes: [Note] = []
    var inLine: UInt64 = 0
    /// The commands of queues that had no place in line, as their lanes were late, when the lock was free last.
    var late: UInt64 = 0
    var watched: [Watched] = []
    /// How many commands the calls that cancel have counted, less those that were told, and how many of these were tasks
    /// that were perhaps cancelled otherwise.
    private var cancelled = 0
    private var cancelledTasks = 0
}

extension Monitor {
    func reset(for scenario: Scenario) {
        notes = scenario.commands.map { Note($0) }
        watched.removeAll(keepingCapacity: true)
        (inLine, late, cancelled, cancelledTasks) = (0, 0, 0, 0)
    }

    /// Everything that later judgements depend on.
    var state: UInt64 {
        var sum = mix(inLine, late)
        for value in watched {
            sum = mix(sum, mix(UInt64(value.suspensions), UInt64(value.begun)))
            for look in [value.taken, value.latest] {
                sum = mix(sum, (look.inLine & inLine) << 1 | (look.isSuspended ? 1 : 0))
            }
        }
        for note in notes where note.phase != .fresh {
            sum = mix(sum, UInt64(note.command.index) << 8 | note.phase.rawValue << 4 | UInt64(note.completions))
            if note.phase == .ended { continue }
            let flags: [Bool] = [
                note.mayBeCancelled, note.wasCancelled, note.doneWasDropped, note.isHeldBack, note.ran,
                note.hasMetAsync, note.changesSeen < changes(of: note.command.value),
            ]
            sum = mix(mix(sum, flags.reduce(1) { $0 << 1 | ($1 ? 1 : 0) }), note.ahead & inLine)
            let (least, greatest) = (note.priorities.lowerBound.rawValue, note.priorities.upperBound.rawValue)
            sum = mix(sum, least << 8 | greatest << 4 | (note.priority?.rawValue ?? 0))
        }
        return sum
    }
}

// What the doubles tell.

extension Monitor {
    func looked(at value: Int) {
        let holder = unsafe TurnWord(bits: watched[value].word.pointee.bits).holder
        guard watched[value].storage != nil, world.current.isKnown(as: holder) else { return }
        watched[value].latest = look(at: value)
        if watched[value].begun > 0 { seePriorities(of: value) }
    }

    func turnChanged(of value: Int, from old: UInt64, to new: UInt64) {
        if new & identityBits == 0 || old == new { return }
        // A thread whose manual command is left gives the turn to nobody.
        if new == TurnWord.detached { return }
        if !world.current.isKnown(as: new) { world.fail("the turn of value \(value) is given to what does not run") }
        checkTake(of: value)
        watched[value].taken = look(at: value)
        watched[value].latest = watched[value].taken
        watched[value].begun = 0
        seePriorities(of: value)
        watched[value].hasAsyncClosure = new & TurnWord.asyncBit != 0
        for index in notes.indices where watched[value].hasAsyncClosure && notes[index].command.value == value {
            notes[index].hasMetAsync = true
        }
    }

    /// Rule 4: past a front that is owed the turn, only a more urgent try takes it without the lock.
    private func checkTake(of value: Int) {
        guard world.current.lockCount == 0, lockIsFree(of: value), let index = world.current.commands.last,
            notes[index].command.timeout != 0, let front = unsafe watched[value].turns?.line.front, front.state.isOwed
        else { return }
        world.fail("\(notes[index].command) barges past a front that is owed the turn")
    }

    private func look(at value: Int) -> Look {
        Look(inLine: inLine & ~late & ~lateNow, isSuspended: watched[value].isSurelySuspended)
    }

    func parks(_ thread: VirtualThread) {
        if thread.submitted != nil { world.fail("a submission waits") }
        if thread.commands.isEmpty, thread.queue != nil { world.fail("\(thread.name) waits outside of any command") }
        thread.rememberOnlyCommands()
    }

    func hasTimeout(_ thread: VirtualThread) -> Bool {
        thread.isTimed || thread.commands.contains { notes[$0].command.timeout < .max }
    }

    /// Where a thread is in the commands that it is in, in one number.
    func progress(_ thread: VirtualThread) -> UInt64 {
        thread.commands.reduce(0) { mix($0, UInt64($1) << 4 | notes[$1].phase.rawValue) }
    }
}

// What the commands tell.

extension Monitor {
    func issued(_ command: Command) {
        let index = command.index
        if notes[index].phase != .fresh { world.fail("\(command) is issued twice") }
        notes[index].phase = .issued
        notes[index].ahead = inLine
        notes[index].hasMetAsync = watched[command.value].hasAsyncClosure
        if command.isAsync { world.current.submitted = index } else { world.current.commands.append(index) }
    }

    func submitted(_ command: Command, _ accepted: AcceptedCommand) {
        let index = command.index
        world.current.submitted = nil
        notes[index].accepted = accepted
        guard notes[index].phase == .issued else { return }
        notes[index].phase = .inLine
        if !notes[index].mayBeCancelled { inLine |= 1 << index }
        // Its lane may be about to have its place again.
        if accepted.lane.state.standing == .late || !lockIsFree(of: command.value) { late |= 1 << index }
    }

    func refused(_ command: Command, _ outcome: Outcome) {
        world.current.submitted = nil
        if command.report == nil { completes(command, outcome) }
    }

    /// A `suspend()` has returned.
    func suspended(_ value: Int) {
        watched[value].suspensions += 1
        watched[value].isSurelySuspended = true
        for note in notes where note.command.value == value {
            guard let command = note.accepted?.command else { continue }
            // What its handle says; with a step, as this thread may not have seen that it was claimed.
            let isWaiting = world.memory.isWeak ? command.state == .waiting : command.isWaiting
            if isWaiting { notes[note.command.index].isHeldBack = true }
        }
    }

    /// A `resume()` begins.
    func resumes(_ value: Int) {
        watched[value].suspensions -= 1
        guard watched[value].suspensions <= 0 else { return }
        watched[value].isSurelySuspended = false
        for index in notes.indices where notes[index].command.value == value { notes[index].isHeldBack = false }
    }

    func cancelBegins(isTask: Bool = false, _ isMeant: (Command) -> Bool) {
        for index in notes.indices where isMeant(notes[index].command) {
            notes[index].mayBeCancelled = true
            if isTask { notes[index].taskMayBeCancelled = true }
            if notes[index].command.isAsync { inLine &= ~(1 << index) }
        }
    }

    /// So many were cancelled.
    func cancelEnds(_ count: Int) { cancelled += count }

    func drops(_ command: Command) { notes[command.index].doneWasDropped = true }

    /// A command begins to use the value, or looks whether it meets the condition.
    func starts(_ command: Command) {
        let (index, value, note) = (command.index, command.value, notes[command.index])
        if note.phase != .issued, note.phase != .inLine { world.fail("\(command) runs twice") }
        if note.wasCancelled { world.fail("\(command) runs though it was cancelled") }
        if note.isHeldBack { world.fail("\(command) begins, but it waited when its value was suspended") }
        if let accepted = note.accepted, accepted.command.stateNow != .running {
            world.fail("\(command) begins, but its handle says that it is \(accepted.command.stateNow)")
        }
        let look = watched[value].begun == 0 ? watched[value].taken : watched[value].latest
        if look.isSuspended { world.fail("\(command) begins, but its value is suspended") }
        // What has become late since then has no place, as a block may find under the lock.
        let others = look.inLine & watched[value].latest.inLine & inLine
        for other in notes where others & (1 << other.command.index) != 0 { judge(note, before: other) }
        judgeWatchers(before: command)
        watched[value].begun += 1
        if watched[value].begun > world.batch { world.fail("\(command) begins after a whole batch") }
        notes[index].phase = .running
        notes[index].ran = true
        inLine &= ~(1 << index)
        world.current.rememberOnlyCommands()
    }

    /// The value does not meet the condition of a command, which has run only to see that.
    func waitsForChange(_ command: Command) {
        notes[command.index].phase = .issued
        notes[command.index].ran = false
        notes[command.index].changesSeen = changes(of: command.value)
        // It comes anew, behind those that stand in line then.
        notes[command.index].ahead = 0
    }

    /// A command has answered, with what it should have or not.
    func completes(_ command: Command, _ outcome: Outcome) {
        let note = notes[command.index]
        notes[command.index].completions += 1
        if note.completions > 0 { world.fail("\(command) completes twice") }
        let expected: [Outcome] =
            switch note.phase {
            case .running: [command.expected(doneWasDropped: note.doneWasDropped)]
            case .issued, .inLine: refusals(of: note)
            case .fresh, .ended: []
            }
        if !expected.contains(outcome) { world.fail("\(command) ends with \(outcome), not \(expected)") }
        if outcome == .circular, !isInCircle(command), world.current.task == nil || !note.hasMetAsync {
            world.fail("\(command) is refused, but it is in no circle")
        }
        if outcome == .cancelled {
            notes[command.index].wasCancelled = true
            cancelled -= 1
            if notes[command.index].taskMayBeCancelled { cancelledTasks += 1 }
        }
        notes[command.index].phase = .ended
        inLine &= ~(1 << command.index)
    }

    /// The caller of a command is told. A manual command that was left to others has given its turn back by then.
    func tells(_ command: Command) {
        let (index, value) = (command.index, command.value)
        if command.body != .left || watched[value].storage == nil || !lockIsFree(of: value) { return }
        for (other, note) in notes.enumerated() where other != index && note.command.value == value {
            // A manual one without a report is noted as over before it gives the turn back.
            if note.phase == .running || note.ran && note.command.report == nil { return }
        }
        if unsafe TurnWord(bits: watched[value].word.pointee.bits).holder == TurnWord.detached {
            world.fail("\(command) is told while it has the turn")
        }
    }

    /// What a command may answer that does not run.
    private func refusals(of note: Note) -> [Outcome] {
        let command = note.command
        var outcomes: [Outcome] = note.mayBeCancelled ? [.cancelled] : []
        if command.isAsync {
            if watched[command.value].handles == 0, watched[command.value].suspensions > 0 { outcomes.append(.closed) }
            if world.isBounded { outcomes.append(.full) }
            return outcomes
        }
        if world.isBounded, command.isTask { outcomes.append(.full) }
        if command.timeout < .max { outcomes.append(.timedOut) }
        if command.held.contains(command.value) { return outcomes + [.reentrant] }
        // A wait that ends is in no circle.
        return command.timeout < .max && !note.hasMetAsync ? outcomes : outcomes + [.circular]
    }

    /// A command ends that has nothing to report to.
    func completesUnseen(_ command: Command) {
        completes(command, command.expected(doneWasDropped: notes[command.index].doneWasDropped))
    }

    /// A `wait` or `await` command has returned.
    func returns(_ command: Command) {
        world.current.commands.removeLast()
        inLine &= ~(1 << command.index)
    }

    func hasEnded(_ index: Int) -> Bool { notes[index].phase == .ended }

    /// How often the commands have changed a value.
    func changes(of value: Int) -> UInt64 {
        UInt64(notes.count { $0.ran && $0.command.value == value && $0.command.isChange })
    }

    /// At the end of an execution each command has completed once.
    func checkEnd() {
        for note in notes where note.phase != .ended || note.completions != 1 {
            // What was not run and told gives no further command.
            if note.phase == .fresh, let parent = note.command.parent, !notes[parent].ran { continue }
            world.fail("at the end \(note.command) is \(note.phase), completed \(note.completions) times")
        }
        if cancelled > 0 || cancelled < -cancelledTasks {
            world.fail("\(cancelled) more commands were cancelled than were told so")
        }
    }
}

extension Monitor {
    /// A command that waits for a change stands in line before the next command begins.
    private func judgeWatchers(before command: Command) {
        let count = changes(of: command.value)
        for thread in world.threads where thread.waiter?.state.standing == .watching {
            guard let index = thread.commands.last, notes[index].command.value == command.value else { continue }
            if notes[index].changesSeen < count {
                world.fail("\(command) begins, but \(notes[index].command) waits for a change that has come")
            }
        }
    }

    /// Whether `first` may have the turn although `other` stands in line.
    private func judge(_ first: Note, before other: Note) {
        let (command, waiting) = (first.command, other.command)
        guard waiting.value == command.value, waiting.index != command.index else { return }
        let isLess = first.priorities.upperBound < other.priorities.lowerBound
        if isLess { world.fail("\(command) runs although \(waiting) waits") }
        guard first.surelyEquals(other) else { return }
        // Rule 1. A command of a queue stands in line before its submission returns, so the next test is for that.
        if first.phase == .issued, !command.isAsync, waiting.kind != .wait, !waiting.isTask, !command.hasCondition {
            world.fail("\(command) barges past \(waiting)")
        }
        if first.phase == .inLine || command.isAsync, first.ahead & (1 << waiting.index) != 0 {
            world.fail("\(command) passes \(waiting), which waited before it")
        }
    }
}
