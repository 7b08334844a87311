//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A small program for a few threads: which commands they give, and what happens to the queues and values meanwhile.
struct Scenario {
    let name: String
    /// What each thread does, one after the other.
    let threads: [[Action]]
    /// How many blocks each target queue runs at once; 0 for the main queue.
    let queues: [Int]
    /// Which thread is the main thread.
    let main: Int?
    /// How far the clock may jump ahead, each once and in this order.
    let jumps: [UInt64]
    /// How often a timer of the library may fire although something else is still to happen.
    let haste: Int
    let batch: Int
    let looks: Int
    /// How many commands may wait.
    let limit: Int
    let commands: [Command]
    let values: Int
    let isListenedTo: Bool
    /// How many preemptions its exploration is bounded to; `nil` if every schedule is looked at.
    let preemptions: Int?

    init(
        _ name: String,
        queues: [Int] = [],
        main: Int? = nil,
        jumps: [UInt64] = [],
        haste: Int = 0,
        batch: Int = 2,
        looks: Int = 1,
        limit: Int = .max,
        isListenedTo: Bool = false,
        preemptions: Int? = nil,
        threads: [[Action]]
    ) {
        (self.name, self.queues, self.main, self.jumps) = (name, queues, main, jumps)
        (self.haste, self.batch, self.looks, self.limit) = (haste, batch, looks, limit)
        (self.isListenedTo, self.preemptions) = (isListenedTo, preemptions)
        var commands: [Command] = []
        self.threads = threads.map { $0.map { $0.numbered(&commands, inside: [], of: nil) } }
        self.commands = commands.sorted { $0.index < $1.index }
        values = threads.joined().flatMap(\.values).max()! + 1
    }

    var actions: [Action] { Array(threads.joined()) }

    /// The values that an action lets go of. They go away when nothing can use them any more.
    var released: Set<Int> { Set(actions.flatMap(\.released)) }
}

/// One thing that a thread of a scenario does.
indirect enum Action: Sendable, Equatable {
    case command(Command)
    /// Takes the turns of two values at once.
    case both(CommandPriority)
    /// The thread is a task.
    case beTask
    /// Lets go of the thread's handle on a value.
    case release(Int)
    case suspend(Int)
    case resume(Int)
    /// The first listener to a value comes, or the last one goes.
    case listen(Int, Bool)
    /// A listener comes that begins with the value as it is.
    case listenFromNow(Int)
    case setQueueSuspended(Int, Bool)
    /// Waits until another thread of the scenario is at its end.
    case join(Int)
    /// Waits until a command is over.
    case await(Int)
    /// Waits for what its handle answers.
    case awaitHandle(Int)
    /// Cancels an async command by its handle, once it is submitted.
    case cancel(Int)
    /// Cancels all commands of a value.
    case cancelAll(Int)
    /// Cancels the task of another thread.
    case cancelTask(Int)
    /// Completes the next manual command whose `done` was left to others, or drops that `done`.
    case complete(Completion)
}

enum Completion: Sendable {
    case calling, callingTwice, dropping
}

/// One command.
struct Command: Sendable, Equatable {
    /// Where it waits and runs.
    enum Kind: Sendable, Equatable {
        case wait
        /// In a block of a target queue.
        case queue(Int)
        /// In a task; its closure is sync or async.
        case task(isAsync: Bool)
    }

    /// What its closure does.
    indirect enum Body: Sendable, Equatable {
        case set, get, fail
        /// Manual, completed in the closure.
        case manual(Completion)
        /// Manual, completed by whoever takes its `done`.
        case left
        /// Does something else inside.
        case then(Action)
        /// Waits until so many commands have used the value.
        case when(UInt64)
    }

    /// What an async command does when it is told.
    indirect enum Report: Sendable, Equatable {
        case closure
        case then(Action)
    }

    var index = 0
    let value: Int
    let priority: CommandPriority
    let kind: Kind
    /// How long it may wait for its turn, in nanoseconds.
    var timeout = UInt64.max
    var body: Body
    var report: Report?
    /// The values that the thread already has when it gives this command.
    var held: [Int] = []
    /// The command whose closure or report gives this one.
    var parent: Int?
}

/// How a command ended.
enum Outcome {
    case success, closed, failed, reentrant, circular, dropped, timedOut, cancelled, full
}

extension Command {
    /// Whether it is for a target queue.
    var isAsync: Bool { target != nil }

    var target: Int? { if case .queue(let target) = kind { target } else { nil } }

    var isTask: Bool { if case .task = kind { true } else { false } }

    var hasCondition: Bool { if case .when = body { true } else { false } }

    /// What it answers if it runs.
    func expected(doneWasDropped: Bool) -> Outcome {
        switch body {
        case .fail: .failed
        case .manual(.dropping): .dropped
        default: doneWasDropped ? .dropped : .success
        }
    }

    /// Whether it changes the value if it runs.
    var isChange: Bool { body != .get }

    /// What its closure and its report do besides.
    var innerActions: [Action] {
        var actions: [Action] = []
        if case .then(let action) = body { actions.append(action) }
        if case .then(let action) = report { actions.append(action) }
        return actions
    }
}

extension Action {
    /// The values of which it needs a handle.
    var values: [Int] {
        switch self {
        case .command(let command): [command.value] + command.innerActions.flatMap(\.values)
        case .release(let value), .suspend(let value), .resume(let value), .cancelAll(let value): [value]
        case .listen(let value, _), .listenFromNow(let value): [value]
        case .both: [0, 1]
        default: []
        }
    }

    fileprivate var released: [Int] {
        switch self {
        case .command(let command): command.innerActions.flatMap(\.released)
        case .release(let value): [value]
        default: []
        }
    }

    /// Whether a thread that does it is a task.
    var isOfTask: Bool {
        guard case .command(let command) = self else { return self == .beTask }
        return command.isTask || command.kind == .wait && command.innerActions.contains(where: \.isOfTask)
    }

    /// The same with numbers for all commands in it.
    fileprivate func numbered(_ commands: inout [Command], inside held: [Int], of parent: Int?) -> Action {
        guard case .command(var command) = self else { return self }
        (command.index, command.held, command.parent) = (commands.count, held, parent)
        commands.append(command)
        if case .then(let action) = command.body {
            // An async command runs on a worker, which has nothing else.
            let others = command.isAsync ? [] : held
            command.body = .then(action.numbered(&commands, inside: others + [command.value], of: command.index))
        }
        if case .then(let action) = command.report {
            command.report = .then(action.numbered(&commands, inside: [], of: command.index))
        }
        return .command(command)
    }
}

// Short forms, for the list of scenarios.
extension Action {
    static func wait(
        _ priority: CommandPriority = .lowest,
        _ body: Command.Body = .set,
        on value: Int = 0,
        timeout: UInt64 = .max
    ) -> Action {
        .command(Command(value: value, priority: priority, kind: .wait, timeout: timeout, body: body))
    }

    static func async(
        _ target: Int,
        _ priority: CommandPriority = .lowest,
        _ body: Command.Body = .set,
        tells report: Command.Report? = nil,
        on value: Int = 0
    ) -> Action {
        .command(Command(value: value, priority: priority, kind: .queue(target), body: body, report: report))
    }

    /// An awaited command.
    static func task(
        _ priority: CommandPriority = .lowest,
        _ body: Command.Body = .set,
        isAsync: Bool = false,
        on value: Int = 0,
        timeout: UInt64 = .max
    ) -> Action {
        let kind = Command.Kind.task(isAsync: isAsync)
        return .command(Command(value: value, priority: priority, kind: kind, timeout: timeout, body: body))
    }
}

extension Command: CustomStringConvertible {
    var description: String {
        "command \(index) (\(kind), \(priority), \(body)\(value == 0 ? "" : ", value \(value)"))"
    }
}
