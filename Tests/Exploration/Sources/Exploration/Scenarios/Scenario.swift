//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A small program for a few threads: which commands they give, and what happens to the queues and values meanwhile.
struct Scenario {
    let name: String
    /// What each thread does, as it is written, and one after the other.
    let text: [Substring]
    let threads: [[Action]]
    /// How many blocks each target queue runs at once; 0 for the main queue.
    var queues: [Int] = []
    /// Which thread is the main thread.
    var main: Int?
    /// How far the clock may jump ahead, each once and in this order.
    var jumps: [UInt64] = []
    /// How often a timer of the library may fire although something else is still to happen.
    var haste = 0
    /// How many commands a block runs, and how often the library looks for something before it sleeps.
    var batch = 2
    var looks = 1
    /// How many commands may wait.
    var limit = Int.max
    var isListenedTo = false
    var hasListener: Bool { isListenedTo || text.contains { $0.contains("listen") } }
    /// In a scenario about the order of memory, how many loads may see an old store.
    var staleLoads: Int?
    /// Whether no thread has seen yet that the lines were made.
    var linesAreUnseen = false
    /// How many preemptions its exploration is bounded to; `nil` if every schedule is looked at.
    var preemptions: Int?
    let commands: [Command]

    var values: Int { (actions.flatMap(\.values).max() ?? -1) + 1 }

    var actions: [Action] { Array(threads.joined()) }

    /// The values that an action lets go of. They go away when nothing can use them any more.
    var released: Set<Int> { Set(actions.flatMap(\.released)) }
}

/// One thing that a thread of a scenario does.
indirect enum Action: Sendable, Equatable {
    case command(Command)
    /// Takes the turns of two values at once.
    case both
    /// Takes the library's own lock, perhaps with a time-out.
    case lock(isTimed: Bool)
    /// The thread is a task.
    case beTask
    /// Lets go of the thread's handle on a value.
    case release(Int)
    case suspend(Int)
    case resume(Int)
    /// The first listener to a value comes, or the last one goes.
    case listen(Int, Bool)
    case setQueueSuspended(Int, Bool)
    /// Waits until a command is over.
    case await(Int)
    /// Waits for what its handle answers.
    case awaitHandle(Int)
    /// Cancels an async command by its handle, once it is submitted.
    case cancel(Int)
    /// Changes the priority of an async command by its handle, once it is submitted.
    case changePriority(Int, CommandPriority)
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

    let index: Int
    var value = 0
    var priority = CommandPriority.lowest
    let kind: Kind
    /// How long it may wait for its turn, in nanoseconds.
    var timeout = UInt64.max
    var body = Body.set
    var report: Report?
    /// The values that the thread already has when it gives this command.
    let held: [Int]
    /// The command whose closure or report gives this one.
    let parent: Int?
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
        case .listen(let value, _): [value]
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
}

extension Command: CustomStringConvertible {
    var description: String {
        "command \(index) (\(kind), \(priority), \(body)\(value == 0 ? "" : ", value \(value)"))"
    }
}
