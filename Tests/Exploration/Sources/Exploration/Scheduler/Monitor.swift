//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Watches the commands of an execution from outside, and says what breaks a promise.
///
/// A command surely stands in line once its thread has given the lock of the line back, or once its submission has
/// returned. See `Monitor+Values` for what it sees inside.
final class Monitor {
    enum Phase: UInt64 {
        case fresh
        case issued
        case inLine
        case running
        case ended
    }

    struct Note {
        let command: Command
        var phase = Phase.fresh
        /// Which commands surely stood in line when this one was issued.
        var ahead: UInt64 = 0
        /// The thread that issued it.
        var issuer = 0
        var issueTime: UInt64 = 0
        /// When it surely stood in line.
        var lineTime: UInt64 = 0
        /// The command behind its handle, for an async one whose submission has returned.
        var pending: PendingCommand?
        var doneWasDropped = false
        var ran = false
        /// A thread tries to cancel it, or has.
        var mayBeCancelled = false
        var wasCancelled = false
        /// Its handle said that it waits, after its value was suspended, and that is suspended still.
        var isHeldBack = false
        /// More urgent commands that stood in line when its handle said that it waits.
        var mustComeLater: UInt64 = 0
        var completions = 0
    }

    /// What a thread is known to do.
    struct ThreadNotes {
        /// The `wait` commands that it is in.
        var waits: [Int] = []
        /// The async command that it is submitting.
        var submitted: Int?
        /// Which commands surely stood in line when the thread last looked at a turn word: it decided not earlier.
        var seen: UInt64 = 0
        /// Which of them may have lost their place in line by then, as their queue stood still.
        var seenOverdue: UInt64 = 0
        /// Which were in lanes whose blocks were late when the thread looked, with the lock that it had last: the equals
        /// of other slow queues may pass them.
        var seenLate: UInt64 = 0
        /// Which values surely were suspended then.
        var seenSuspended: UInt64 = 0
        /// How many other threads stood in line then, or were about to.
        var seenThreads: UInt64 = 0
        /// The time of that look.
        var seenTime: UInt64 = 0
    }

    var notes: [Note] = []
    var inLine: UInt64 = 0
    /// The commands of lanes that have lost their place in line, when the line's lock was free last.
    var overdue: UInt64 = 0
    var suspensions = [0, 0]
    private var suspended: UInt64 = 0
    /// How many handles there are of each value.
    private var handles = [0, 0]
    private(set) var values = 0
    /// How long after its call each `wait` command must have begun.
    private var time: UInt64 = 0
    private(set) var listening = Scenario.Listening.none
    var watched: [WatchedValue] = []
    let limits = HandoffPolicy()
}

extension Monitor {
    func reset(for scenario: Scenario) {
        notes.removeAll(keepingCapacity: true)
        watched.removeAll(keepingCapacity: true)
        for command in scenario.commands { notes.append(Note(command: command)) }
        inLine = 0
        overdue = 0
        suspensions = [0, 0]
        suspended = 0
        handles = [0, 0]
        values = scenario.values
        listening = scenario.listening
        time = scenario.time
    }

    /// Everything that later judgements depend on.
    var state: UInt64 {
        var sum = mix(inLine, overdue)
        for value in suspensions.indices {
            sum = mix(sum, UInt64(suspensions[value]) << 1 | suspended >> UInt64(value) & 1)
        }
        for note in notes where note.phase != .fresh {
            sum = mix(sum, UInt64(note.command.index) << 8 | note.phase.rawValue << 4 | UInt64(note.completions))
            if note.phase == .ended { continue }
            sum = mix(
                sum,
                (note.mayBeCancelled ? 1 : 0) | (note.wasCancelled ? 2 : 0) | (note.doneWasDropped ? 4 : 0)
                    | (note.isHeldBack ? 8 : 0)
            )
            sum = mix(sum, mix(note.ahead & inLine, note.mustComeLater & inLine))
            if time < .max >> 1 { sum = mix(sum, note.issueTime) }
            guard note.phase == .inLine else { continue }
            // The arrival decides in which order commands are refused, when nothing else remembers it.
            sum = mix(sum, mix(note.lineTime, note.pending.map { unsafe $0.arrival } ?? 0))
        }
        for thread in world.threads where thread.notes.seen & inLine != 0 || thread.notes.seenSuspended != 0 {
            let notes = thread.notes
            sum = mix(sum, mix(mix(UInt64(thread.index), notes.seen & inLine), notes.seenSuspended))
            sum = mix(sum, mix(mix(notes.seenTime, notes.seenThreads), notes.seenOverdue & inLine))
            sum = mix(sum, notes.seenLate & inLine)
        }
        for thread in world.threads {
            let latest = latestArrivals(of: thread)
            if latest != 0 { sum = mix(sum, mix(UInt64(thread.index), latest)) }
        }
        return sum
    }
}

// What the doubles tell.

extension Monitor {
    /// A thread reads a turn word, or exchanges it.
    func looked(_ thread: VirtualThread) {
        thread.notes.seen = inLine
        // Another thread that has the lock may be about to publish that a lane has its place again.
        thread.notes.seenOverdue = overdue | overdueNow
        thread.notes.seenSuspended = suspended
        let waiting = notes.count { ($0.phase == .issued || $0.phase == .inLine) && $0.command.target == nil }
        thread.notes.seenThreads = UInt64(max(waiting - 1, 1))
        thread.notes.seenTime = world.clock
    }

    /// A thread with the lock of a line looks whether the block of a lane has come and gone.
    func looksForLateLanes(_ thread: VirtualThread) {
        thread.notes.seenLate |= lateNow
    }

    func parks(_ thread: VirtualThread) {
        if thread.notes.submitted != nil { world.fail("a submission waits") }
        if thread.notes.waits.isEmpty { return world.fail("\(thread.name) waits outside of any command") }
        surelyWaits(thread)
        thread.rememberOnlyCommands()
    }

    /// The command that a thread is in stands in line, or stood there.
    func surelyWaits(_ thread: VirtualThread) {
        if let index = thread.notes.waits.last, notes[index].phase == .issued { standsInLine(index) }
    }

    /// A thread has waited long enough, and will leave the line unless the turn is there.
    func isOutOfTime(_ thread: VirtualThread) {
        guard let index = thread.notes.waits.last, notes[index].command.timeout < .max else { return }
        inLine &= ~(1 << index)
    }

    func hasTimeout(_ thread: VirtualThread) -> Bool {
        thread.notes.waits.contains { notes[$0].command.timeout < .max }
    }

    /// Where a thread is in the `wait` commands that it is in, in one number.
    func progress(_ thread: VirtualThread) -> UInt64 {
        thread.notes.waits.reduce(0) { mix($0, UInt64($1) << 4 | notes[$1].phase.rawValue) }
    }
}

// What the commands tell.

extension Monitor {
    func issued(_ command: Command) {
        let index = command.index
        if notes[index].phase != .fresh { world.fail("\(command) is issued twice") }
        notes[index].phase = .issued
        notes[index].ahead = inLine
        notes[index].issuer = world.current.index
        notes[index].issueTime = world.clock
        if command.target == nil {
            world.current.notes.waits.append(index)
        } else {
            world.current.notes.submitted = index
        }
    }

    func submitted(_ command: Command, _ pending: PendingCommand) {
        let index = command.index
        world.current.notes.submitted = nil
        notes[index].pending = pending
        // Its lane may have its place again before the next look at what is overdue.
        overdue |= overdueNow
        guard notes[index].phase == .issued else { return }
        standsInLine(index)
        guard lockIsFree(of: command.value) else { return }
        // From now on no command begins before this one that is less urgent and whose handle says that it waits.
        for other in notes where other.command.priority < command.priority && saysWaiting(other, of: command.value) {
            notes[other.command.index].mustComeLater |= 1 << index
        }
    }

    /// A `suspend()` has returned.
    func suspended(_ value: Int) {
        suspensions[value] += 1
        suspended |= 1 << value
        guard lockIsFree(of: value) else { return }
        for other in notes where saysWaiting(other, of: value) { notes[other.command.index].isHeldBack = true }
    }

    /// A `resume()` begins.
    func resumes(_ value: Int) {
        suspensions[value] -= 1
        guard suspensions[value] <= 0 else { return }
        suspended &= ~(1 << value)
        for index in notes.indices where notes[index].command.value == value { notes[index].isHeldBack = false }
    }

    func cancelBegins(_ index: Int) {
        notes[index].mayBeCancelled = true
        inLine &= ~(1 << index)
    }

    func cancelEnds(_ index: Int, _ isCancelled: Bool) {
        guard isCancelled else { return }
        let command = notes[index].command
        if notes[index].ran { world.fail("\(command) is cancelled though it ran") }
        if notes[index].wasCancelled { world.fail("\(command) is cancelled twice") }
        notes[index].wasCancelled = true
        if case .none = command.report { completes(command, .cancelled) }
    }

    func drops(_ command: Command) {
        notes[command.index].doneWasDropped = true
    }

    /// A command begins to use the value.
    func starts(_ command: Command) {
        let thread = world.current
        let note = notes[command.index]
        if note.phase != .issued, note.phase != .inLine { world.fail("\(command) runs twice") }
        if command.target == nil, world.clock > note.issueTime + time {
            world.fail("\(command) begins only after \(world.clock - note.issueTime) ns")
        }
        if note.wasCancelled { world.fail("\(command) runs though it was cancelled") }
        if thread.notes.seenSuspended & (1 << command.value) != 0 {
            world.fail("\(command) begins, but its value is suspended")
        }
        if note.isHeldBack { world.fail("\(command) begins, but it waited when its value was suspended") }
        if let pending = note.pending, pending.stateOfHandle != .started {
            world.fail("\(command) begins, but its handle says that it is \(pending.stateOfHandle)")
        }
        for other in notes where thread.notes.seen & inLine & (1 << other.command.index) != 0 {
            judge(note, before: other, on: thread)
        }
        let missed = note.mustComeLater & inLine & ~(overdue | overdueNow | thread.notes.seenOverdue)
        if missed != 0 {
            world.fail("\(command) begins, but it waited when command \(missed.trailingZeroBitCount) was submitted")
        }
        thread.notes.seen = 0
        notes[command.index].phase = .running
        notes[command.index].ran = true
        inLine &= ~(1 << command.index)
        thread.begins(command)
    }

    /// A command has answered, with what it should have or not.
    func completes(_ command: Command, _ outcome: Outcome) {
        let index = command.index
        notes[index].completions += 1
        if notes[index].completions > 1 { world.fail("\(command) completes twice") }
        let expected: [Outcome]
        switch notes[index].phase {
        case .running:
            expected = [command.expected(doneWasDropped: notes[index].doneWasDropped)]
        case .issued, .inLine:
            expected =
                command.mayBeRefused + (notes[index].mayBeCancelled ? [.cancelled] : [])
                + (command.target != nil && isGone(command.value) ? [.closed] : [])
        case .fresh, .ended:
            expected = []
        }
        if !expected.contains(outcome) { world.fail("\(command) ends with \(outcome), not \(expected)") }
        if outcome == .circular, !isInCircle(command) { world.fail("\(command) is refused, but it is in no circle") }
        notes[index].phase = .ended
        inLine &= ~(1 << index)
    }

    /// A command that has nothing to report to ends.
    func completesUnseen(_ command: Command) {
        completes(command, command.expected(doneWasDropped: notes[command.index].doneWasDropped))
    }

    /// A `wait` command has returned.
    func returns(_ command: Command) {
        world.current.notes.waits.removeLast()
    }

    func hasEnded(_ index: Int) -> Bool { notes[index].phase == .ended }

    func handleMade(of value: Int) {
        handles[value] += 1
    }

    func handleGoes(of value: Int) {
        handles[value] -= 1
    }

    /// Nobody can resume the value any more.
    private func isGone(_ value: Int) -> Bool {
        handles[value] == 0 && suspensions[value] > 0
    }

    /// How often the commands have changed a value.
    func changes(of value: Int) -> UInt64 {
        UInt64(notes.count { $0.ran && $0.command.value == value && $0.command.isChange })
    }

    /// At the end of an execution each command has completed once.
    func checkEnd() {
        for note in notes where note.phase != .ended || note.completions != 1 {
            // What was not run and told gives no further command.
            if note.phase == .fresh, let parent = note.command.parent,
                !notes[parent].ran || notes[parent].completions == 0
            {
                continue
            }
            world.fail("at the end \(note.command) is \(note.phase), completed \(note.completions) times")
        }
    }
}

extension Monitor {
    private func standsInLine(_ index: Int) {
        notes[index].phase = .inLine
        notes[index].lineTime = world.clock
        inLine |= 1 << index
    }

    /// Whether the handle of a command of a value says that it waits.
    private func saysWaiting(_ note: Note, of value: Int) -> Bool {
        note.command.value == value && note.pending?.stateOfHandle == .waiting
    }

    /// When a command came: of those that come at once, one is a nanosecond behind the other.
    private func arrival(of note: Note) -> UInt64 {
        max(note.lineTime, note.pending.map { unsafe $0.arrival } ?? 0)
    }

    /// Whether `first` may have the turn although `other` stands in line.
    private func judge(_ first: Note, before other: Note, on thread: VirtualThread) {
        guard other.command.value == first.command.value, other.command.index != first.command.index else { return }
        if thread.notes.seenOverdue & (1 << other.command.index) != 0 { return }
        let urgent = other.command.priority
        if urgent > first.command.priority {
            world.fail("\(first.command) runs although \(other.command) waits")
        } else if first.ahead & (1 << other.command.index) != 0, first.issuer == other.issuer,
            urgent == first.command.priority
        {
            world.fail("\(first.command) passes \(other.command), which the same thread gave before it")
        } else if urgent == first.command.priority {
            let isLate = thread.notes.seenLate & (1 << other.command.index) != 0
            if isLate, let lane = unsafe first.pending?.lane, isSlow(lane) { return }
            if first.command.target != nil || first.phase == .inLine {
                if first.ahead & (1 << other.command.index) != 0 {
                    world.fail("\(first.command) passes \(other.command), which waited before it")
                }
            } else if thread.notes.seenTime >= arrival(of: other) + limits.barging * thread.notes.seenThreads {
                world.fail("\(first.command) passes \(other.command), which has waited too long for that")
            }
        }
    }
}

extension Monitor.Phase: CustomStringConvertible {
    var description: String {
        switch self {
        case .fresh: "not yet issued"
        case .issued: "issued"
        case .inLine: "in line"
        case .running: "running"
        case .ended: "ended"
        }
    }
}
