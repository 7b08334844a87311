//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Watches the commands of an execution from outside, and says what breaks a promise.
///
/// What it goes by can be seen from outside: a command surely stands in line once its thread has parked, or once its
/// submission has returned.
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
        /// When it surely stood in line.
        var lineTime: UInt64 = 0
        /// When one of its equals passed it for the first time.
        var passedTime: UInt64?
        var valueWasClosed = false
        /// Its container was going away while it was submitted.
        var mayBeLate = false
        var doneWasDropped = false
        var ran = false
        /// Somebody tries to cancel it, or has.
        var mayBeCancelled = false
        var wasCancelled = false
        var completions = 0
    }

    /// What a thread is known to do.
    struct ThreadNotes {
        /// The `wait` commands that it is in.
        var waits: [Int] = []
        var isSubmitting = false
        /// Which commands surely stood in line when the thread last looked at a word: it decided not earlier.
        var seen: UInt64 = 0
        /// Which values surely were held back then.
        var seenHeld: UInt64 = 0
        /// The last time that it read.
        var clock: UInt64 = 0
    }

    private var notes: [Note] = []
    private var inLine: UInt64 = 0
    private var holds = [0, 0]
    private var held: UInt64 = 0
    private var closeBegan: UInt64 = 0
    private var closeEnded: UInt64 = 0
    private(set) var values = 0
    private var limits = Patience()
}

extension Monitor {
    func reset(for scenario: Scenario) {
        notes.removeAll(keepingCapacity: true)
        for command in scenario.commands { notes.append(Note(command: command)) }
        inLine = 0
        holds = [0, 0]
        held = 0
        closeBegan = 0
        closeEnded = 0
        values = scenario.values
    }

    /// Everything that later judgements depend on.
    var state: UInt64 {
        var sum = mix(mix(closeBegan, closeEnded), inLine)
        for value in holds.indices { sum = mix(sum, UInt64(holds[value]) << 1 | held >> UInt64(value) & 1) }
        for note in notes where note.phase != .fresh && note.phase != .ended || note.completions > 1 {
            sum = mix(
                sum,
                UInt64(note.command.index) << 8 | note.phase.rawValue << 4 | UInt64(note.completions)
                    | (note.mayBeLate ? 4 : 0) | (note.doneWasDropped ? 8 : 0)
            )
            sum = mix(sum, note.ahead & inLine)
            sum = mix(sum, (note.mayBeCancelled ? 1 : 0) | (note.wasCancelled ? 2 : 0))
            if note.phase == .inLine { sum = mix(sum, mix(note.lineTime, note.passedTime ?? 0)) }
        }
        for thread in world.threads where thread.notes.seen & inLine != 0 || thread.notes.seenHeld != 0 {
            sum = mix(sum, mix(mix(UInt64(thread.index), thread.notes.seen & inLine), thread.notes.seenHeld))
        }
        return sum
    }

    // What the doubles tell.

    func looked(_ thread: VirtualThread) {
        thread.notes.seen = inLine
        thread.notes.seenHeld = held
    }

    func parks(_ thread: VirtualThread) {
        if thread.notes.isSubmitting { world.fail("a submission waits") }
        guard let index = thread.notes.waits.last else {
            return world.fail("\(thread.name) waits outside of any command")
        }
        if notes[index].phase == .issued { standsInLine(index) }
        thread.rememberOnlyCommands()
    }

    /// A thread has waited long enough, and will leave the line unless the turn is there.
    func isOutOfTime(_ thread: VirtualThread) {
        if let index = thread.notes.waits.last { inLine &= ~(1 << index) }
    }

    func hasTimeout(_ thread: VirtualThread) -> Bool {
        thread.notes.waits.contains { notes[$0].command.timeout < .max }
    }

    /// Where a thread is in the `wait` commands that it is in, in one number.
    func progress(_ thread: VirtualThread) -> UInt64 {
        thread.notes.waits.reduce(0) { mix($0, UInt64($1) << 4 | notes[$1].phase.rawValue) }
    }

    // What the commands tell.

    func issued(_ command: Command) {
        let index = command.index
        if notes[index].phase != .fresh { world.fail("\(command) is issued twice") }
        notes[index].phase = .issued
        notes[index].ahead = inLine
        world.current.notes.clock = 0
        notes[index].valueWasClosed = closeEnded & (1 << command.value) != 0
        if command.target == nil {
            world.current.notes.waits.append(index)
        } else {
            world.current.notes.isSubmitting = true
        }
    }

    func submitted(_ command: Command) {
        world.current.notes.isSubmitting = false
        guard notes[command.index].phase == .issued else { return }
        if closeBegan & (1 << command.value) != 0 {
            notes[command.index].mayBeLate = true
        } else {
            standsInLine(command.index)
        }
    }

    func held(_ value: Int) {
        holds[value] += 1
        if closeBegan & (1 << value) == 0 { held |= 1 << value }
    }

    func letsGo(_ value: Int) {
        holds[value] -= 1
        if holds[value] <= 0 { held &= ~(1 << value) }
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
        let index = command.index
        if notes[index].phase != .issued, notes[index].phase != .inLine { world.fail("\(command) runs twice") }
        if notes[index].valueWasClosed { world.fail("\(command) was issued after the value had gone, and runs") }
        if notes[index].wasCancelled { world.fail("\(command) runs though it was cancelled") }
        if thread.notes.seenHeld & (1 << command.value) != 0 { world.fail("\(command) begins, but its value is held") }
        for other in notes where thread.notes.seen & inLine & (1 << other.command.index) != 0 {
            judge(notes[index], before: other, on: thread)
        }
        thread.notes.seen = 0
        notes[index].phase = .running
        notes[index].ran = true
        inLine &= ~(1 << index)
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
        case .issued where outcome == .closed && closeBegan & (1 << command.value) != 0:
            // A report may overtake the end of the submission.
            expected = [.closed]
        case .issued, .inLine:
            expected = command.mayBeRefused + (notes[index].mayBeCancelled ? [.cancelled] : [])
        case .fresh, .ended:
            expected = []
        }
        if !expected.contains(outcome) { world.fail("\(command) ends with \(outcome), not \(expected)") }
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

    func closeBegins(_ value: Int) {
        closeBegan |= 1 << value
        held &= ~(1 << value)
    }

    func closeEnds(_ value: Int) {
        closeEnded |= 1 << value
    }

    /// How often the commands have changed a value.
    func changes(of value: Int) -> UInt64 {
        UInt64(notes.count { $0.ran && $0.command.value == value && $0.command.isChange })
    }

    /// At the end of an execution each command has completed once.
    func checkEnd() {
        for note in notes where note.phase != .ended || note.completions != 1 {
            // Who was late and has nothing to report to is not told.
            if note.mayBeLate, note.phase == .issued, case .none = note.command.report { continue }
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

    /// Whether `first` may have the turn although `other` stands in line.
    private func judge(_ first: Note, before other: Note, on thread: VirtualThread) {
        guard other.command.value == first.command.value, other.command.index != first.command.index else { return }
        // A lane may be overdue once so much time has passed.
        if other.command.target != nil, world.clock - World.beginning >= limits.keeping { return }
        let urgent = other.command.priority
        if urgent > first.command.priority {
            world.fail("\(first.command) runs although \(other.command) waits")
        } else if urgent == first.command.priority {
            if first.command.target != nil || first.phase == .inLine {
                if first.ahead & (1 << other.command.index) != 0 {
                    world.fail("\(first.command) passes \(other.command), which waited before it")
                }
            } else if thread.notes.clock >= other.lineTime {
                // It decided when it last read the time, but may have been slow since: what it did, it did just now.
                let firstTime = other.passedTime ?? world.clock
                notes[other.command.index].passedTime = firstTime
                if thread.notes.clock >= firstTime + limits.passing {
                    world.fail("\(first.command) passes \(other.command), which was passed long enough")
                }
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
