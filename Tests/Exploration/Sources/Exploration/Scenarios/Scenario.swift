//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A small program for a few threads: which commands they give, and what happens to the queues and values meanwhile.
struct Scenario {
    let name: String
    /// What each thread does, one after the other.
    let threads: [[Action]]
    /// How many blocks each target queue runs at once.
    let queues: [Int]
    /// How far the clock may jump ahead, each once and in this order.
    let jumps: [UInt64]
    let policy: HandoffPolicy
    let commands: [Command]
    let values: Int
    let listening: Listening
    /// How long after its call each `wait` command must have begun, in nanoseconds.
    let time: UInt64
    /// How many preemptions its exploration is bounded to; `nil` if every schedule is looked at.
    let preemptions: Int?

    init(
        _ name: String,
        queues: [Int] = [],
        jumps: [UInt64] = [],
        batch: Int = 2,
        spins: Int = 0,
        circleDelay: UInt64 = 0,
        listening: Listening = .none,
        time: UInt64 = .max >> 1,
        preemptions: Int? = nil,
        threads: [[Action]]
    ) {
        self.name = name
        self.queues = queues
        self.preemptions = preemptions
        self.listening = listening
        self.time = time
        self.jumps = jumps
        var policy = HandoffPolicy()
        policy.batch = batch
        policy.spins = spins
        policy.circleDelay = circleDelay
        self.policy = policy
        var commands: [Command] = []
        self.threads = threads.map { $0.map { $0.numbered(&commands, inside: [], of: nil) } }
        self.commands = commands.sorted { $0.index < $1.index }
        values = threads.joined().flatMap(\.values).max()! + 1
    }
}

extension Scenario {
    /// Who listens to the changes of the values.
    enum Listening {
        case none
        /// A loop that always waits for the next change.
        case waiting
        /// A loop that is always behind.
        case behind
    }

    var actions: [Action] { Array(threads.joined()) }

    /// The values that an action lets go of. They go away when nothing can use them any more.
    var released: Set<Int> { Set(actions.flatMap(\.released)) }
}

/// One thing that a thread of a scenario does.
indirect enum Action: Sendable {
    case command(Command)
    /// Lets go of the thread's handle on a value.
    case release(Int)
    case suspend(Int)
    case resume(Int)
    /// The first listener to a value comes, or the last one goes.
    case listen(Int, Bool)
    case suspendQueue(Int)
    case resumeQueue(Int)
    /// Waits until another thread of the scenario is at its end.
    case join(Int)
    /// Waits until a command is over.
    case await(Int)
    /// Cancels an async command by its handle, once it is submitted.
    case cancel(Int)
    /// Completes the next manual command whose `done` was left to others, or drops that `done`.
    case complete(Completion)
}

enum Completion: Sendable {
    case calling
    case callingTwice
    case dropping
}

/// One command.
struct Command: Sendable {
    /// What its closure does.
    indirect enum Body: Sendable {
        case set
        case get
        case map
        case fail
        /// Manual, completed in the closure.
        case manual(Completion)
        /// Manual, completed by whoever takes its `done`.
        case left
        /// Does something else inside.
        case then(Action)
    }

    /// What an async command reports to.
    indirect enum Report: Sendable {
        case none
        case closure
        case then(Action)
    }

    /// Where an async command runs.
    enum Place: Sendable {
        /// In a block of its target queue.
        case queue
        /// In a task that waits in line, whose executor its target queue is.
        case task
        /// In a task that a block of its target queue starts there.
        case startedTask
    }

    var index = 0
    let value: Int
    let priority: CommandPriority
    var place = Place.queue
    /// The number of its target queue; `nil` if it waits.
    let target: Int?
    /// How long it may wait for its turn, in nanoseconds.
    var timeout = UInt64.max
    var body: Body
    var report: Report
    /// The values that the thread already has when it gives this command.
    var held: [Int] = []
    /// The command whose closure or report gives this one.
    var parent: Int?
}

/// How a command ended.
enum Outcome {
    case success
    case closed
    case failed
    case reentrant
    case circular
    case dropped
    case timedOut
    case cancelled
}

extension Command {
    /// What it answers if it runs.
    func expected(doneWasDropped: Bool) -> Outcome {
        switch body {
        case .fail: .failed
        case .manual(.dropping): .dropped
        default: doneWasDropped ? .dropped : .success
        }
    }

    /// Whether it changes the value if it runs.
    var isChange: Bool {
        switch body {
        case .get: false
        // An async command has no `map`, so that is a `set`.
        case .map: target != nil
        default: true
        }
    }

    /// What it may answer if it does not.
    var mayBeRefused: [Outcome] {
        if target != nil { return [] }
        // A wait that ends is in no circle.
        let late: [Outcome] = timeout < .max ? [.timedOut] : []
        if held.isEmpty { return late }
        return late + (held.contains(value) ? [.reentrant] : timeout == .max ? [.circular] : [])
    }
}

extension Action {
    /// The values of which it needs a handle.
    var values: [Int] {
        switch self {
        case .command(let command): [command.value] + command.innerActions.flatMap(\.values)
        case .release(let value), .suspend(let value), .resume(let value): [value]
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

    var isListening: Bool {
        if case .listen = self { true } else { false }
    }
}

extension Command {
    /// What its closure and its report do besides.
    var innerActions: [Action] {
        var actions: [Action] = []
        if case .then(let action) = body { actions.append(action) }
        if case .then(let action) = report { actions.append(action) }
        return actions
    }
}

// Short forms, for the list of scenarios.
extension Action {
    static func wait(_ priority: CommandPriority, _ body: Command.Body = .set, on value: Int = 0) -> Action {
        .command(Command(value: value, priority: priority, target: nil, body: body, report: .none))
    }

    /// A `wait` with a time-out, which may come at any moment.
    static func waitBriefly(_ priority: CommandPriority, _ body: Command.Body = .set, on value: Int = 0) -> Action {
        .command(Command(value: value, priority: priority, target: nil, timeout: 1_000, body: body, report: .none))
    }

    /// A `wait` that only looks for the turn.
    static func look(_ priority: CommandPriority, _ body: Command.Body = .set, on value: Int = 0) -> Action {
        .command(Command(value: value, priority: priority, target: nil, timeout: 0, body: body, report: .none))
    }

    static func async(
        _ priority: CommandPriority,
        _ target: Int,
        _ body: Command.Body = .set,
        _ report: Command.Report = .none,
        on value: Int = 0
    ) -> Action {
        .command(Command(value: value, priority: priority, target: target, body: body, report: report))
    }

    /// An async closure, in a task of an executor.
    static func task(_ priority: CommandPriority, _ executor: Int, on value: Int = 0) -> Action {
        .command(
            Command(value: value, priority: priority, place: .task, target: executor, body: .set, report: .none)
        )
    }

    /// A submitted async closure, whose task a block of the queue starts.
    static func startedTask(_ priority: CommandPriority, _ target: Int, on value: Int = 0) -> Action {
        .command(
            Command(value: value, priority: priority, place: .startedTask, target: target, body: .set, report: .none)
        )
    }

    /// The same with numbers for all commands in it.
    fileprivate func numbered(_ commands: inout [Command], inside held: [Int], of parent: Int?) -> Action {
        guard case .command(var command) = self else { return self }
        command.index = commands.count
        command.held = held
        command.parent = parent
        commands.append(command)
        if case .then(let action) = command.body {
            // An async command runs on a worker, which has nothing else.
            let others = command.target == nil ? held : []
            command.body = .then(action.numbered(&commands, inside: others + [command.value], of: command.index))
        }
        if case .then(let action) = command.report {
            command.report = .then(action.numbered(&commands, inside: [], of: command.index))
        }
        return .command(command)
    }
}

extension Command: CustomStringConvertible {
    var description: String {
        let name = place == .queue ? "async" : "\(place)"
        let place = target.map { "\(name) \($0)" } ?? "wait"
        return "command \(index) (\(place), \(priority), \(body)\(value == 0 ? "" : ", value \(value)"))"
    }
}
