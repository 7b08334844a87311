//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What a scenario's values hold: notices when two commands have it at once, and when it is never let go.
final class Cell: @unchecked Sendable {
    nonisolated(unsafe) static var alive = 0

    var user: Int?
    var uses: UInt64 = 0
    let id = world.newObject()

    init() {
        Cell.alive += 1
    }

    deinit {
        Cell.alive -= 1
        world.objectChanged(id, from: uses, to: .max)
    }
}

/// The handles on values that a thread of a scenario has, or a closure: all that it uses, and no other.
final class Hands: @unchecked Sendable {
    private var values: [QueueSafeValue<Cell>?]

    init(_ all: [QueueSafeValue<Cell>?], _ actions: [Action]) {
        let used = Set(actions.flatMap(\.values))
        values = all.enumerated().map { used.contains($0.offset) ? $0.element! : nil }
        for value in used { world.monitor.watched[value].handles += 1 }
    }

    convenience init(_ other: Hands, _ actions: [Action]) {
        self.init(other.values, actions)
    }

    deinit {
        letGo()
    }

    subscript(value: Int) -> QueueSafeValue<Cell> { values[value]! }

    func letGo() {
        for value in values.indices { letGo(of: value) }
    }

    func letGo(of value: Int) {
        guard values[value] != nil else { return }
        world.monitor.watched[value].handles -= 1
        values[value] = nil
    }
}

/// The values and queues of one execution, and the threads that act on them.
final class Stage: @unchecked Sendable {
    private let scenario: Scenario
    /// The values that no action lets go of.
    private var kept: [QueueSafeValue<Cell>] = []
    private var listeners: [ChangeBroadcaster<Cell>] = []
    let lock = LockSubject()
    private let queues: [DispatchQueue]
    /// What the submissions of async commands returned, and how they ended.
    private var handles: [Int: CommandHandle<Void>] = [:]

    /// The `done` closures that were left to others, and how many commands may still leave theirs.
    private var left: [(command: Command, cell: Cell, done: CommandCompletionClosure)] = []
    private var mayLeave = 0
    /// Of which of these commands the closure has returned, and of which the `done` was called or dropped.
    private var returned: UInt64 = 0
    private var finished: UInt64 = 0
    private let leftID = world.newObject()

    init(_ scenario: Scenario) {
        self.scenario = scenario
        queues = scenario.queues.enumerated().map { number, width in
            width == 0 ? .main : world.queue("queue \(number)", width: width)
        }
        let values = (0..<scenario.values).map { _ in
            QueueSafeValue(value: Cell(), pendingCommandLimit: scenario.limit)
        }
        let view = world.current.view
        for value in values {
            world.monitor.watch(value.queue.storage)
            // A listener is told of each change, so a block gives the turn back more often.
            if scenario.hasListener { listeners.append(value.queue.storage.listeners) }
            if scenario.isListenedTo { listeners.last!.listen(true) }
        }
        if scenario.linesAreUnseen { world.current.view = view }
        mayLeave = scenario.commands.count { $0.body == .left }
        for (number, actions) in scenario.threads.enumerated() {
            let hands = Hands(values, actions)
            let isTask = actions.contains(where: \.isOfTask)
            world.addThread("thread \(number)", isTask: isTask, isMain: number == scenario.main) { [self] in
                for (position, action) in actions.enumerated() {
                    // What the thread does now depends on nothing else; the monitor has the outcomes.
                    world.current.forget(but: UInt64(position))
                    perform(action, hands)
                }
                hands.letGo()
            }
        }
        kept = values.enumerated().filter { !scenario.released.contains($0.offset) }.map(\.element)
        for queue in queues { queue.enter() }
    }

    /// When nothing moves any more, everything must have happened and nothing be left.
    func checkEnd() {
        for command in scenario.commands where handles[command.index] != nil { checkState(of: command) }
        world.monitor.checkEnd()
        for queue in queues + [.timers] where !queue.isEmpty { world.fail("at the end \(queue.label) has blocks") }
        for (value, listeners) in listeners.enumerated() {
            if let rest = world.monitor.rest(of: value) { world.fail("at the end of value \(value) \(rest)") }
            let isReleased = scenario.released.contains(value)
            if (world.monitor.watched[value].storage == nil) != isReleased {
                world.fail("at the end value \(value) is \(isReleased ? "kept" : "gone")")
            }
            if scenario.isListenedTo, listeners.changes != world.monitor.changes(of: value) {
                world.fail("the listeners heard of \(listeners.changes) changes")
            }
            if listeners.isFinished != isReleased { world.fail("the listeners don't know the end") }
        }
        if !WaitGraph.shared.waits.isEmpty { world.fail("at the end something stands in the graph of waits") }
        guard world.failure == nil else { return }
        checkLeaks()
    }

    private func checkLeaks() {
        final class Weak {
            weak var object: AnyObject?
            init(_ object: AnyObject) { self.object = object }
        }
        let parts = world.monitor.notes.compactMap(\.accepted).flatMap { [Weak($0.command), Weak($0.lane)] }
        let lines = world.monitor.watched.compactMap { $0.turns.map { Weak($0) } }
        for index in world.monitor.notes.indices { world.monitor.notes[index].accepted = nil }
        (listeners, kept, left, handles) = ([], [], [], [:])
        if Cell.alive != 0 { world.fail("at the end \(Cell.alive) values are not let go") }
        for part in parts where part.object != nil {
            world.fail("at the end a \(type(of: part.object!)) is not let go")
        }
        if lines.contains(where: { $0.object != nil }) { world.fail("at the end a line is not let go") }
        Cell.alive = 0
    }

    /// At the end the handle of a command says what has become of it.
    private func checkState(of command: Command) {
        let note = world.monitor.notes[command.index]
        let state = handles[command.index]!.state
        // A command that has nothing to report to is refused, or cancelled, without a word.
        if command.report == nil, !note.ran, note.completions == 0 {
            if state == .refused { world.monitor.completes(command, .closed) }
            if state == .cancelled { world.monitor.completes(command, .cancelled) }
        }
        let isCancelled = world.monitor.notes[command.index].wasCancelled
        let expected: CommandState = note.ran ? .finished : isCancelled ? .cancelled : .refused
        if state != expected { world.fail("at the end the handle of \(command) says \(state), not \(expected)") }
    }
}

extension Stage {
    private func perform(_ action: Action, _ hands: Hands) {
        switch action {
        case .command(let command):
            world.monitor.issued(command)
            switch command.kind {
            case .wait: wait(command, hands)
            case .queue(let target): submit(command, queues[target], hands)
            case .task(let isAsync): perform(command, isAsync: isAsync, hands)
            }
        case .both: useBoth(hands)
        case .lock(let isTimed): lock.use(isTimed: isTimed)
        case .beTask: break
        case .release(let value):
            world.pass(.run("let go of value", UInt64(value)))
            hands.letGo(of: value)
        case .suspend(let value):
            hands[value].suspend()
            world.monitor.suspended(value)
            // Time for commands to begin that must not.
            world.pass(.run("be suspended", 0))
        case .resume(let value):
            world.monitor.resumes(value)
            if case .failure = hands[value].resume() { world.fail("a resume finds no suspension") }
        case .listen(let value, let isListenedTo): listeners[value].listen(isListenedTo)
        case .setQueueSuspended(let queue, let isSuspended): queues[queue].setSuspended(isSuspended)
        case .await(let index): world.pass(.until("await a command") { world.monitor.hasEnded(index) })
        case .awaitHandle(let index): awaitHandle(index)
        case .cancel(let index):
            world.pass(.until("cancel") { self.handles[index] != nil })
            world.monitor.cancelBegins { $0.index == index }
            if handles[index]!.cancel() { world.monitor.cancelEnds(1) }
        case .changePriority(let index, let priority):
            world.pass(.until("change the priority") { self.handles[index] != nil })
            let old = world.monitor.priorityChanges(of: index, to: priority)
            let isChanged = handles[index]!.changePriority(to: priority)
            world.monitor.priorityHasChanged(of: index, to: isChanged ? priority : old)
        case .cancelAll(let value):
            world.monitor.cancelBegins { $0.value == value }
            world.monitor.cancelEnds(hands[value].cancelAllPendingCommands())
        case .cancelTask(let number):
            let commands = Set(scenario.threads[number].flatMap(\.commands))
            world.monitor.cancelBegins(isTask: true) { commands.contains($0.index) && $0.isTask }
            world.threads[number].task!.cancel()
        case .complete(let completion): completeNext(completion)
        }
    }

    private func awaitHandle(_ index: Int) {
        world.pass(.until("await the handle") { self.handles[index] != nil })
        let outcome = Outcome(handles[index]!.value)
        let note = world.monitor.notes[index]
        let isRight =
            switch outcome {
            case .reentrant: !world.current.commands.isEmpty
            case .cancelled: note.mayBeCancelled
            case .closed: !note.ran
            default: note.ran && outcome == note.command.expected(doneWasDropped: note.doneWasDropped)
            }
        if !isRight { world.fail("the handle of \(note.command) answers \(outcome)") }
    }

    /// Gives a `wait` command.
    private func wait(_ command: Command, _ hands: Hands) {
        let commands = WaitSchedule(queue: hands[command.value].queue, timeout: command.timeout)
            .priority(command.priority)
        let outcome: Outcome
        switch command.body {
        case .get:
            outcome = Outcome(commands.map { self.use($0, command) {} })
        case .manual, .left:
            outcome = Outcome(commands.set { (cell, done) in self.useManually(cell, command, done) })
        case .when(let uses):
            outcome = Outcome(
                commands.update(when: { self.meets($0, command, uses) }) { self.use($0, command, isOn: true) {} }
            )
        default:
            outcome = Outcome(commands.set { cell in try self.useFully(cell, command, hands) })
        }
        ends(command, outcome)
    }

    /// Gives an awaited command.
    private func perform(_ command: Command, isAsync: Bool, _ hands: Hands) {
        let (queue, priority, timeout) = (hands[command.value].queue, command.priority, command.timeout)
        let outcome: Outcome
        if case .when(let uses) = command.body {
            outcome = Outcome(
                queue.performAwaited(priority, timeout, when: { self.meets($0, command, uses) }) {
                    self.use($0, command, isOn: true) {}
                }
            )
        } else if isAsync {
            nonisolated(unsafe) let hands = hands
            outcome = Outcome(queue.performAwaitedBody(priority, timeout) { try self.useFully($0, command, hands) })
        } else {
            outcome = Outcome(
                queue.performAwaited(priority, timeout, isChange: true) { try self.useFully($0, command, hands) }
            )
        }
        ends(command, outcome)
    }

    private func ends(_ command: Command, _ outcome: Outcome) {
        if isRefused(command, outcome) { leftChanged { mayLeave -= 1 } }
        world.monitor.completes(command, outcome)
        world.monitor.returns(command)
    }

    /// Submits an async command.
    private func submit(_ command: Command, _ target: DispatchQueue, _ hands: Hands) {
        let commands = hands[command.value].async(performIn: target).priority(command.priority)
        let inner = Hands(hands, command.innerActions)
        var report: (@Sendable (Result<Cell, QueueSafeValueError>) -> Void)?
        if let action = command.report {
            report = {
                self.reported(command, Outcome($0))
                if case .then(let action) = action { self.perform(action, inner) }
            }
        }
        let handle: CommandHandle<Void>
        switch command.body {
        case .get:
            handle = commands.get { result in
                if case .success(let cell) = result { self.use(cell, command) {} }
                self.reported(command, Outcome(result))
            }
        case .manual, .left:
            handle = commands.set({ self.useManually($0, command, $1) }, completion: report)
        default:
            let isReported = report != nil
            handle = commands.set(
                { cell in
                    defer { if !isReported { world.monitor.completesUnseen(command) } }
                    try self.useFully(cell, command, inner)
                },
                completion: report
            )
        }
        switch handle.accepted {
        case .success(let accepted):
            handles[command.index] = handle
            world.monitor.submitted(command, accepted)
        case .failure(let error): world.monitor.refused(command, Outcome(Result<Void, _>.failure(error)))
        }
    }

    /// Takes the turns of two values; no scenario refuses that.
    private func useBoth(_ hands: Hands) {
        let result = withLocked(hands[0], hands[1]) { first, second in
            for cell in [first, second] {
                if cell.user != nil { world.fail("both values are used while a command has one") }
                cell.user = -1
            }
            world.pass(.run("use both values", 0))
            (first.user, second.user) = (nil, nil)
        }
        if case .failure(let error) = result { world.fail("both values are not to be had: \(error)") }
    }

    private func isRefused(_ command: Command, _ outcome: Outcome) -> Bool {
        command.body == .left && outcome != .success && outcome != .dropped
    }

    /// The closure of a report is called: on the target queue, as it must.
    private func reported(_ command: Command, _ outcome: Outcome) {
        checkPlace(command)
        if isRefused(command, outcome) { leftChanged { mayLeave -= 1 } }
        world.monitor.tells(command)
        world.monitor.completes(command, outcome)
    }

    private func checkPlace(_ command: Command) {
        let isThere =
            if let target = command.target {
                world.current.queue === queues[target]
            } else {
                world.current.commands.last == command.index
            }
        if !isThere { world.fail("\(command) is on \(world.current.name)") }
    }
}

// What the closures of the commands do with the value.

extension Stage {
    private struct Failure: Error {}

    private func enter(_ cell: Cell, _ command: Command, isOn: Bool = false) {
        checkPlace(command)
        if let user = cell.user { world.fail("\(command) runs while command \(user) has the value") }
        if !isOn { world.monitor.starts(command) }
        world.memory.access(cell.id, "the value")
        world.memory.access(mix(cell.id, 1), "what a manual command did")
        cell.user = command.index
    }

    private func exit(_ cell: Cell, _ command: Command, isUse: Bool = true) {
        if cell.user != command.index { world.fail("\(command) has lost the value") }
        cell.user = nil
        if !isUse { return }
        world.objectChanged(cell.id, from: cell.uses, to: cell.uses + 1)
        cell.uses += 1
    }

    private func use(_ cell: Cell, _ command: Command, isOn: Bool = false, _ body: () throws -> Void) rethrows {
        enter(cell, command, isOn: isOn)
        defer { exit(cell, command) }
        // Time for others to do what they must not.
        world.pass(.run("use the value in command", UInt64(command.index)))
        try body()
    }

    private func meets(_ cell: Cell, _ command: Command, _ uses: UInt64) -> Bool {
        enter(cell, command)
        world.pass(.run("look at the value in command", UInt64(command.index)))
        exit(cell, command, isUse: false)
        let isMet = cell.uses >= uses
        if !isMet { world.monitor.waitsForChange(command) }
        world.current.observe(isMet ? 1 : 0)
        return isMet
    }

    private func useFully(_ cell: Cell, _ command: Command, _ hands: Hands) throws {
        try use(cell, command) {
            switch command.body {
            case .fail: throw Failure()
            case .then(let action): perform(action, hands)
            default: break
            }
        }
    }

    /// A manual command has the value until its closure has returned and its `done` was called or dropped.
    private func useManually(_ cell: Cell, _ command: Command, _ done: @escaping CommandCompletionClosure) {
        enter(cell, command)
        switch command.body {
        case .manual(let completion):
            finish(completion, done)
            world.pass(.run("return from command", UInt64(command.index)))
            exitManually(cell, command)
        default:
            leftChanged {
                mayLeave -= 1
                left.append((command, cell, done))
                world.memory.release(leftID)
            }
            world.pass(.run("return from command", UInt64(command.index)))
            world.memory.access(cell.id, "the value")
            leftChanged { returned |= 1 << command.index }
            if finished & (1 << command.index) != 0 { exitManually(cell, command) }
        }
    }

    /// Completes a command that was left, if one is and one will be.
    private func completeNext(_ completion: Completion) {
        world.pass(.until("complete") { !self.left.isEmpty || self.mayLeave == 0 })
        guard !left.isEmpty else { return }
        let next = leftChanged { left.removeFirst() }
        world.memory.acquire(leftID)
        world.memory.access(mix(next.cell.id, 1), "what a manual command did")
        let index = next.command.index
        if completion == .dropping { world.monitor.drops(next.command) }
        leftChanged { finished |= 1 << index }
        if returned & (1 << index) != 0 { exitManually(next.cell, next.command) }
        finish(completion, next.done)
    }

    private func finish(_ completion: Completion, _ done: CommandCompletionClosure) {
        if completion != .dropping { done() }
        if completion == .callingTwice { done() }
    }

    private func exitManually(_ cell: Cell, _ command: Command) {
        exit(cell, command)
        if command.isAsync, command.report == nil { world.monitor.completesUnseen(command) }
    }

    @discardableResult
    private func leftChanged<Answer>(_ change: () -> Answer) -> Answer {
        func contents() -> UInt64 {
            left.reduce(mix(mix(returned, finished), UInt64(mayLeave))) { mix($0, UInt64($1.command.index)) }
        }
        let before = contents()
        world.current.observe(before)
        let answer = change()
        world.objectChanged(leftID, from: before, to: contents())
        return answer
    }
}

extension Outcome {
    init<Success>(_ result: Result<Success, QueueSafeValueError>) {
        switch result {
        case .success: self = .success
        case .failure(.valueContainerDeinited): self = .closed
        case .failure(.reentrantCommand): self = .reentrant
        case .failure(.circularWait): self = .circular
        case .failure(.completionDropped): self = .dropped
        case .failure(.timedOut): self = .timedOut
        case .failure(.cancelled): self = .cancelled
        case .failure(.commandQueueFull): self = .full
        case .failure: self = .failed
        }
    }
}

extension Action {
    /// The numbers of the commands in it.
    fileprivate var commands: [Int] {
        guard case .command(let command) = self else { return [] }
        return [command.index] + command.innerActions.flatMap(\.commands)
    }
}
