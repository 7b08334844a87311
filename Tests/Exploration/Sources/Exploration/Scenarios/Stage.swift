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
    }
}

/// The values and queues of one execution, and the threads that act on them.
final class Stage: @unchecked Sendable {
    private let scenario: Scenario
    private var containers: [QueueSafeValue<Cell>?] = []
    private var schedules: [Schedules] = []
    private var listeners: [ChangeHub<Cell>] = []
    private let queues: [DispatchQueue]

    /// The `done` closures that were left to others.
    private var left: [Left] = []
    private let leftID = world.newObject()
    /// Of which of these commands the closure has returned, and of which the `done` was called or dropped.
    private var returned: UInt64 = 0
    /// What the submissions of async commands returned.
    private var handles: [Int: AsyncCommand] = [:]
    private var finished: UInt64 = 0
    /// How many commands may still leave theirs.
    private var mayLeave = 0

    private struct Left {
        let command: Command
        let cell: Cell
        let done: CommandCompletionClosure
    }

    private struct Schedules {
        let wait: WaitSchedule<Cell>
        let async: [AsyncSchedule<Cell>]
    }

    init(_ scenario: Scenario) {
        self.scenario = scenario
        queues = scenario.queues.enumerated().map { number, width in world.queue("queue \(number)", width: width) }
        for _ in 0..<scenario.values {
            let value = QueueSafeValue(value: Cell(), patience: scenario.patience)
            containers.append(value)
            if scenario.isListenedTo {
                listeners.append(value.queue.listeners)
                value.queue.listeners.listen()
            }
            schedules.append(Schedules(wait: value.wait, async: queues.map(value.async(performIn:))))
        }
        mayLeave = scenario.commands.count { if case .left = $0.body { true } else { false } }
        for (number, actions) in scenario.threads.enumerated() {
            world.addThread("thread \(number)") { [self] in
                for (position, action) in actions.enumerated() {
                    perform(action)
                    // What the thread does next depends on nothing else; the monitor has the outcomes.
                    world.current.forget(but: UInt64(position))
                }
            }
        }
        for queue in queues { queue.enter() }
    }

    /// When nothing moves any more, everything must have happened and nothing be left.
    func checkEnd() {
        world.monitor.checkEnd()
        for (number, queue) in queues.enumerated() where !queue.isEmpty {
            world.fail("at the end queue \(number) has blocks")
        }
        if world.timers != 0 { world.fail("at the end a timer runs") }
        for (number, schedule) in schedules.enumerated() {
            if let rest = schedule.wait.queue.rest { world.fail("at the end value \(number): \(rest)") }
        }
        for (number, hub) in listeners.enumerated() {
            let changes = world.monitor.changes(of: number)
            if hub.changes != changes {
                world.fail("those who listen heard of \(hub.changes) changes, not of \(changes)")
            }
            if hub.isFinished != (containers[number] == nil) { world.fail("those who listen don't know the end") }
        }
        guard world.failure == nil else { return }
        listeners = []
        containers = []
        schedules = []
        left = []
        handles = [:]
        if Cell.alive != 0 {
            world.fail("at the end \(Cell.alive) values are not let go")
            Cell.alive = 0
        }
    }
}

extension Stage {
    private func perform(_ action: Action) {
        switch action {
        case .command(let command):
            world.monitor.issued(command)
            if let target = command.target { submit(command, target) } else { wait(command) }
        case .close(let value):
            world.pass(.run("close", UInt64(value)))
            world.monitor.closeBegins(value)
            containers[value] = nil
            world.monitor.closeEnds(value)
        case .hold(let value):
            world.pass(.run("hold", UInt64(value)))
            containers[value]?.suspend()
            world.monitor.held(value)
        case .letGo(let value):
            world.pass(.run("let go", UInt64(value)))
            world.monitor.letsGo(value)
            if case .failure? = containers[value]?.resume() { world.fail("a resume finds no suspension") }
        case .cancel(let index):
            cancel(index)
        case .suspend(let queue):
            queues[queue].suspend()
        case .resume(let queue):
            queues[queue].resume()
        case .join(let number):
            let other = world.threads[number]
            world.pass(.until("join") { other.isFinished })
        case .complete(let completion):
            completeNext(completion)
        }
    }

    private func cancel(_ index: Int) {
        world.pass(.until("cancel") { self.handles[index] != nil })
        world.monitor.cancelBegins(index)
        let isCancelled = handles[index]!.cancel()
        world.monitor.cancelEnds(index, isCancelled)
    }

    /// Gives a `wait` command.
    private func wait(_ command: Command) {
        let schedule = TimedWaitSchedule(queue: schedules[command.value].wait.queue, timeout: command.timeout)
        let commands = schedule.priority(command.priority)
        let outcome: Outcome
        switch command.body {
        case .get:
            outcome = Outcome(
                commands.get(manualCompletion: { result, done in
                    if case .success(let cell) = result { self.use(cell, command) {} }
                    done()
                })
            )
        case .map:
            outcome = Outcome(commands.map { self.use($0, command) {} })
        case .manual, .left:
            outcome = Outcome(commands.set(manualCompletion: { self.useManually($0, command, $1) }))
        default:
            outcome = Outcome(commands.set(completion: { try self.useFully($0, command) }))
        }
        if isRefused(command, outcome) { mayLeave -= 1 }
        world.monitor.completes(command, outcome)
        world.monitor.returns(command)
    }

    /// Submits an async command.
    private func submit(_ command: Command, _ target: Int) {
        let schedule = schedules[command.value].async[target]
        let commands = schedule.priority(command.priority)
        let report: (@Sendable (Result<Cell, QueueSafeValueError>) -> Void)?
        switch command.report {
        case .none: report = nil
        case .closure: report = { self.reported(command, Outcome($0)) }
        case .then(let action):
            report = {
                self.reported(command, Outcome($0))
                self.perform(action)
            }
        }
        switch command.body {
        case .get:
            handles[command.index] = commands.get { result in
                if case .success(let cell) = result { self.use(cell, command) {} }
                self.reported(command, Outcome(result))
            }
        case .manual, .left:
            handles[command.index] = commands.set(
                manualCompletion: { self.useManually($0, command, $1) },
                completion: report
            )
        default:
            handles[command.index] = commands.set(
                accessClosure: { cell in
                    defer { if report == nil { world.monitor.completes(command, self.outcomeWithoutReport(command)) } }
                    try self.useFully(cell, command)
                },
                completion: report
            )
        }
        world.monitor.submitted(command)
    }

    private func outcomeWithoutReport(_ command: Command) -> Outcome {
        if case .fail = command.body { .failed } else { .success }
    }

    private func isRefused(_ command: Command, _ outcome: Outcome) -> Bool {
        if case .left = command.body { outcome != .success && outcome != .dropped } else { false }
    }

    /// The closure of a report is called: on the target queue, as it must.
    private func reported(_ command: Command, _ outcome: Outcome) {
        checkPlace(command)
        if isRefused(command, outcome) { mayLeave -= 1 }
        world.monitor.completes(command, outcome)
    }

    private func checkPlace(_ command: Command) {
        if let target = command.target, world.current.queue !== queues[target] {
            world.fail("\(command) is on \(world.current.name)")
        }
        if command.target == nil, world.current.notes.waits.last != command.index {
            world.fail("\(command) is on \(world.current.name)")
        }
    }
}

// What the closures of the commands do with the value.

extension Stage {
    private struct Failure: Error {}

    private func enter(_ cell: Cell, _ command: Command) {
        checkPlace(command)
        if let user = cell.user { world.fail("\(command) runs while command \(user) has the value") }
        world.monitor.starts(command)
        cell.user = command.index
        world.objectChanged(cell.id, from: cell.uses, to: cell.uses + 1)
        cell.uses += 1
    }

    private func exit(_ cell: Cell, _ command: Command) {
        if cell.user != command.index { world.fail("\(command) has lost the value") }
        cell.user = nil
    }

    private func use(_ cell: Cell, _ command: Command, _ body: () throws -> Void) rethrows {
        enter(cell, command)
        defer { exit(cell, command) }
        // Time for others to do what they must not.
        world.pass(.run("use the value in command", UInt64(command.index)))
        try body()
    }

    private func useFully(_ cell: Cell, _ command: Command) throws {
        try use(cell, command) {
            switch command.body {
            case .fail: throw Failure()
            case .then(let action): perform(action)
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
            mayLeave -= 1
            leftChanged { $0.append(Left(command: command, cell: cell, done: done)) }
            world.pass(.run("return from command", UInt64(command.index)))
            returned |= 1 << command.index
            if finished & (1 << command.index) != 0 { exitManually(cell, command) }
        }
    }

    /// Completes a command that was left, if one is and one will be.
    private func completeNext(_ completion: Completion) {
        world.pass(.until("complete") { !self.left.isEmpty || self.mayLeave == 0 })
        guard !left.isEmpty else { return }
        let next = leftChanged { $0.removeFirst() }
        let index = next.command.index
        if case .dropping = completion { world.monitor.drops(next.command) }
        finished |= 1 << index
        if returned & (1 << index) != 0 { exitManually(next.cell, next.command) }
        finish(completion, next.done)
    }

    private func finish(_ completion: Completion, _ done: CommandCompletionClosure) {
        switch completion {
        case .calling: done()
        case .callingTwice:
            done()
            done()
        case .dropping: break
        }
    }

    private func exitManually(_ cell: Cell, _ command: Command) {
        exit(cell, command)
        if command.target != nil, case .none = command.report { world.monitor.completesUnseen(command) }
    }

    @discardableResult
    private func leftChanged<Answer>(_ change: (inout [Left]) -> Answer) -> Answer {
        func contents() -> UInt64 { left.reduce(0) { mix($0, UInt64($1.command.index)) } }
        let before = contents()
        world.current.observe(before)
        let answer = change(&left)
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
        case .failure: self = .failed
        }
    }
}

extension CommandQueue {
    /// What is still in the queue, though nothing should be.
    var rest: String? {
        let turn = TurnWord(bits: word.load())
        if !turn.isFree { return "the turn is taken" }
        if turn.waiting != 0 { return "the word says that somebody waits" }
        if turn.isSummoned { return "the word says that somebody is on the way" }
        return storage.line.read { line in
            if let best = line.best { return "a command of priority \(best.priority) stands in line" }
            return line.promised == nil ? nil : "the turn is promised"
        }
    }
}
