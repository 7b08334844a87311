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
        for value in used { world.monitor.handleMade(of: value) }
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
        world.monitor.handleGoes(of: value)
        values[value] = nil
    }
}

/// The values and queues of one execution, and the threads that act on them.
final class Stage: @unchecked Sendable {
    private let scenario: Scenario
    /// The values that no action lets go of.
    private var kept: [QueueSafeValue<Cell>] = []
    private var listeners: [ChangeBroadcaster<Cell>] = []
    private let queues: [DispatchQueue]

    /// The `done` closures that were left to others.
    private var left: [Left] = []
    private let leftID = world.newObject()
    /// Of which of these commands the closure has returned, and of which the `done` was called or dropped.
    private var returned: UInt64 = 0
    /// What the submissions of async commands returned.
    private var handles: [Int: CommandHandle] = [:]
    private var finished: UInt64 = 0
    /// How many commands may still leave theirs.
    private var mayLeave = 0

    private struct Left {
        let command: Command
        let cell: Cell
        let done: CommandCompletionClosure
    }

    init(_ scenario: Scenario) {
        self.scenario = scenario
        queues = scenario.queues.enumerated().map { number, width in world.queue("queue \(number)", width: width) }
        let values = (0..<scenario.values).map { _ in QueueSafeValue(value: Cell(), policy: scenario.policy) }
        for value in values {
            world.monitor.watched.append(WatchedValue(value.queue.storage))
            guard scenario.listening != .none else { continue }
            let listeners = value.queue.listeners
            self.listeners.append(listeners)
            listeners.isBehind = scenario.listening == .behind
            if !scenario.actions.contains(where: \.isListening) { listeners.listen(true) }
        }
        mayLeave = scenario.commands.count { if case .left = $0.body { true } else { false } }
        for (number, actions) in scenario.threads.enumerated() {
            let hands = Hands(values, actions)
            world.addThread("thread \(number)") { [self] in
                for (position, action) in actions.enumerated() {
                    perform(action, hands)
                    // What the thread does next depends on nothing else; the monitor has the outcomes.
                    world.current.forget(but: UInt64(position))
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
        for (number, queue) in queues.enumerated() where !queue.isEmpty {
            world.fail("at the end queue \(number) has blocks")
        }
        if world.timers != 0 { world.fail("at the end a timer runs") }
        for number in 0..<scenario.values {
            if let rest = world.monitor.rest(of: number) { world.fail("at the end value \(number): \(rest)") }
            let isGone = world.monitor.watched[number].storage == nil
            if isGone != scenario.released.contains(number) {
                world.fail("at the end value \(number) is \(isGone ? "gone" : "kept")")
            }
        }
        for (number, hub) in listeners.enumerated() {
            let changes = world.monitor.changes(of: number)
            if hub.changes != changes, !scenario.actions.contains(where: \.isListening) {
                world.fail("the listeners heard of \(hub.changes) changes, not of \(changes)")
            }
            if hub.isFinished != scenario.released.contains(number) { world.fail("the listeners don't know the end") }
        }
        guard world.failure == nil else { return }
        listeners = []
        kept = []
        left = []
        handles = [:]
        if Cell.alive != 0 {
            world.fail("at the end \(Cell.alive) values are not let go")
            Cell.alive = 0
        }
    }
}

extension Stage {
    private func perform(_ action: Action, _ hands: Hands) {
        switch action {
        case .command(let command):
            world.monitor.issued(command)
            switch (command.place, command.target) {
            case (_, nil): wait(command, hands)
            case (.queue, let target?): submit(command, target, hands)
            case (.task, let target?): startTask(command, queues[target], hands)
            case (.startedTask, let target?): submitTask(command, queues[target], hands)
            }
        case .release(let value):
            world.pass(.run("let go of value", UInt64(value)))
            hands.letGo(of: value)
        case .suspend(let value):
            world.pass(.run("suspend value", UInt64(value)))
            hands[value].suspend()
            world.monitor.suspended(value)
        case .resume(let value):
            world.pass(.run("resume value", UInt64(value)))
            world.monitor.resumes(value)
            if case .failure = hands[value].resume() { world.fail("a resume finds no suspension") }
        case .listen(let value, let isListenedTo):
            world.pass(.run("listen", UInt64(value)))
            listeners[value].listen(isListenedTo)
        case .cancel(let index):
            cancel(index)
        case .await(let index):
            world.pass(.until("await a command") { world.monitor.hasEnded(index) })
        case .suspendQueue(let queue):
            queues[queue].suspend()
        case .resumeQueue(let queue):
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

    /// At the end the handle of a command says what has become of it.
    private func checkState(of command: Command) {
        let note = world.monitor.notes[command.index]
        let state = handles[command.index]!.state
        // A command that has nothing to report to is refused without a word.
        if state == .refused, case .none = command.report, note.phase == .inLine {
            return world.monitor.completes(command, .closed)
        }
        let expected: CommandHandle.State = note.ran ? .started : note.wasCancelled ? .cancelled : .refused
        if state != expected { world.fail("at the end the handle of \(command) says \(state), not \(expected)") }
    }

    /// Gives a `wait` command.
    private func wait(_ command: Command, _ hands: Hands) {
        let schedule = TimedWaitSchedule(queue: hands[command.value].queue, timeout: command.timeout)
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
            outcome = Outcome(commands.set(completion: { try self.useFully($0, command, hands) }))
        }
        if isRefused(command, outcome) { leftChanged { _ in mayLeave -= 1 } }
        world.monitor.completes(command, outcome)
        world.monitor.returns(command)
    }

    /// Submits an async command.
    private func submit(_ command: Command, _ target: Int, _ hands: Hands) {
        let schedule = hands[command.value].async(performIn: queues[target])
        let commands = schedule.priority(command.priority)
        let report: (@Sendable (Result<Cell, QueueSafeValueError>) -> Void)?
        switch command.report {
        case .none: report = nil
        case .closure: report = { self.reported(command, Outcome($0)) }
        case .then(let action):
            let inner = Hands(hands, [action])
            report = {
                self.reported(command, Outcome($0))
                self.perform(action, inner)
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
            let inner = Hands(hands, command.innerActions)
            handles[command.index] = commands.set(
                accessClosure: { cell in
                    defer { if report == nil { world.monitor.completes(command, self.outcomeWithoutReport(command)) } }
                    try self.useFully(cell, command, inner)
                },
                completion: report
            )
        }
        world.monitor.submitted(command, handles[command.index]!.pending)
    }

    /// Puts a task in line, which does as `CommandQueue.waitInLine` says.
    private func startTask(_ command: Command, _ executor: DispatchQueue, _ hands: Hands) {
        let own = Hands(hands, [.command(command)])
        let queue = own[command.value].queue
        let task = WaitingTask(UInt(0x7A5C << 8 | command.index), on: executor)
        let lane = Lane(of: task)
        func isOver() {
            task.goesOn = nil
            own.letGo()
        }
        task.goesOn = { step in
            guard case .look(let block) = step else {
                queue.storage.turns.end(lane)
                return isOver()
            }
            guard lane.blockIsNeeded(),
                let taken = queue.storage.turns.takeTurn(for: lane, block: block, as: self.holder(command))
            else { return task.suspend() }
            taken.dropWork()
            self.runTask(command, queue)
            isOver()
        }
        let accepted = queue.storage.turns.submit(command.priority, with: lane, as: Submission(until: .never)) { turn in
            if case .failure(let failure) = turn { task.end(failure) }
            return .complete(isChange: false, tell: nil)
        }
        keep(accepted, command)
        task.suspend()
    }

    /// Submits a command whose task is started when it is next, as `CommandQueue.submitBody` does.
    private func submitTask(_ command: Command, _ target: DispatchQueue, _ hands: Hands) {
        let queue = hands[command.value].queue
        let accepted = queue.storage.turns.submit(command.priority, in: target, isAsync: true) { turn in
            guard case .success(let object) = turn else { return .complete(isChange: false, tell: nil) }
            let block = unsafe unsafeDowncast(object, to: TaskBlock.self)
            target.dispatch(block.lane.identity) {
                guard let taken = block.takeTurn(as: self.holder(command)) else { return }
                self.runTask(command, CommandQueue(of: block.owner))
                taken.dropWork()
            }
            return .detached
        }
        keep(accepted, command)
    }

    private func keep(_ accepted: Result<CommandHandle, QueueSafeValueError>, _ command: Command) {
        guard case .success(let handle) = accepted else { return world.fail("\(command) is not accepted") }
        handles[command.index] = handle
        world.monitor.submitted(command, handle.pending)
    }

    /// A task as the holder of a turn.
    private func holder(_ command: Command) -> UInt64 { TaskBody.flag | UInt64(command.index + 1) << 8 }

    private func runTask(_ command: Command, _ queue: CommandQueue<Cell>) {
        unsafe use(queue.value.pointee, command) {}
        world.monitor.completes(command, .success)
        queue.giveTurnBack(of: holder(command), afterChange: true)
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
        if isRefused(command, outcome) { leftChanged { _ in mayLeave -= 1 } }
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
                $0.append(Left(command: command, cell: cell, done: done))
            }
            world.pass(.run("return from command", UInt64(command.index)))
            leftChanged { _ in returned |= 1 << command.index }
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
        leftChanged { _ in finished |= 1 << index }
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
        func contents() -> UInt64 {
            left.reduce(mix(mix(returned, finished), UInt64(mayLeave))) { mix($0, UInt64($1.command.index)) }
        }
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

extension CommandHandle {
    /// The command that it stands for, which was accepted.
    fileprivate var pending: PendingCommand {
        // All that a handle holds, as it is declared.
        unsafe unsafeBitCast(self, to: Accepted?.self)!.command
    }
}
