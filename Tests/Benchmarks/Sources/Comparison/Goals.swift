//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Workloads

/// One contestant beside others of the same run.
struct Cell {
    let contest: Contest
    let setting: Setting
    let ours: String
    /// Compared with the fastest of them.
    let peers: [String]
    let measure: Cells.Measure

    init(_ contest: Contest, _ setting: Setting, _ ours: String, _ peers: [String], _ measure: Cells.Measure = .time) {
        self.contest = contest
        self.setting = setting
        self.ours = ours
        self.peers = peers
        self.measure = measure
    }

    var title: String { contest.title(in: setting) }
}

/// How slow one contestant may be beside others, below one if it is to be faster.
struct Goal {
    let cell: Cell
    let atMost: Double

    static let all = (changes + reads + submissions + awaits + holds + realCode).flatMap { $0 }

    static let set = "wait.highestPriority.set { }"
    static let awaited = "await value.async.highestPriority.set { }"
    private static let get = "wait.highestPriority.get()"
    private static let nio = ["NIOLockedValueBox"]
    private static let locks = ["Mutex"] + nio

    private static let changes = [
        goals(.changes, .alone, set, ["Mutex"], atMost: 1),
        goals(.changes, .pair, set, nio, atMost: 0.6),
        goals(.changes, .crowd, set, nio, atMost: 0.7),
        goals(.changes, .crowd, "kept commands: set { }", nio, atMost: 0.7),
        goals(.changes, .crowd, "wait(timeout:): set { }", [set], atMost: 1.2),
        goals(.changes, .alone, "$model.count += 1", ["Mutex"], atMost: 1.9),
        goals(.changes, .alone, "set { current, done in }", ["Mutex"], atMost: 5),
    ]

    private static let reads = [
        goals(.reads, .alone, get, ["Mutex"], atMost: 1),
        goals(.reads, .pair, get, nio, atMost: 0.6),
        goals(.reads, .crowd, get, nio, atMost: 0.7),
    ]

    private static let submissions = [
        ("async.set { }", "DispatchQueue.async + lock", 0.8, 0.8, 1),
        ("async.set { } completion: { }", "DispatchQueue.async + lock, completion", 0.9, 0.9, 1),
        ("async.set { current, done in }", "DispatchQueue.async + lock", 1, 1, 1.2),
    ].flatMap { ours, peer, processorTime, one, two in
        [
            goals(.submissions, .alone, ours, [peer], .processorTime, atMost: processorTime),
            goals(.submissions, .alone, ours, [peer], atMost: one),
            goals(.submissions, .pair, ours, [peer], atMost: two),
        ]
    }

    private static let awaits = [
        goals(.awaits, .oneTask, awaited, ["actor"], atMost: 0.9),
        goals(.awaits, .eightTasks, awaited, ["actor"], atMost: 0.5),
    ]

    private static let holds = [
        goals(.held1, .pair, set, locks, atMost: 1.1),
        goals(.heldForNothing, .multitude, "Protected.write", locks, atMost: 1.2),
        goals(.held64, .multitude, "Protected.write", locks, atMost: 1.2),
        goals(.heldForNothing, .multitude, set, locks, atMost: 1.3),
        goals(.held64, .multitude, set, locks, atMost: 1.3),
    ]

    private static let realCode = [
        goals(.genericChange, .alone, "Protected.write", ["Mutex"], atMost: 1.1),
        goals(.genericChange, .alone, set, ["Mutex"], atMost: 1.2),
        goals(.genericChange, .alone, set, ["Mutex, answering with a Result"], atMost: 1),
        goals(.genericChange, .alone, "wait.highestPriority.update { }", ["Mutex"], atMost: 1),
        goals(.genericSetAndGet, .alone, "Protected", ["Mutex"], atMost: 1.1),
        goals(.genericMember, .alone, "handle.count", ["Mutex"], atMost: 1.5),
        goals(.largeStructure, .alone, "Protected.read", ["Mutex"], atMost: 1.1),
        goals(.largeChange, .alone, "wait.highestPriority.update { }", ["Mutex"], atMost: 1.1),
        goals(.twoValues, .alone, "withLocked, queue-safe", ["Mutex in Mutex"], atMost: 1.5),
        goals(.twoValues, .alone, "withLocked, protected", ["Mutex in Mutex"], atMost: 1.2),
        goals(.wrappedInClass, .alone, "@Protected count += 1", ["Mutex"], atMost: 1.9),
        goals(.wrappedInClass, .alone, "$model.count += 1", ["Mutex"], atMost: 1.9),
        goals(.element, .alone, "$list[0] += 1", ["Mutex"], atMost: 2.5),
        goals(.element, .alone, "handle[0] += 1", ["Mutex"], atMost: 2.5),
        goals(.key, .alone, "$table[key] = value", ["Mutex"], atMost: 1.5),
        goals(.part, .alone, "handle[1...2] = [1, 2]", ["Mutex"], atMost: 2),
        goals(.pools, .eightTasks, "Protected.write(when:)", ["actor"], atMost: 2),
        goals(.pools, .manyTasks, "Protected.write(when:)", ["actor"], atMost: 2),
        goals(.loneCommand, .alone, "async.set { } completion: { }", ["DispatchQueue.async + lock"], atMost: 1.1),
    ]

    /// One pending command of 1,000,000 beside one of 1,000, and its bytes.
    static let pendingTime = 1.2
    static let pendingBytes = 96.0

    /// A command with 10,000 target queues beside one with one.
    static let manyTargets = 2.0

    /// A command beside a thread that waits beside one without.
    static let besideWait = 1.5

    /// A command for one of several target queues beside a block with a lock.
    static let lanes = 8.0

    /// A command for one of several target queues beside a chain of blocks, each of which submits the next one.
    static let lanesInTurn = 1.5

    /// One of 16,000 async closures beside one of 2,000.
    static let asyncClosures = 1.2

    /// A task of 800 that wait for a connection beside one of 100.
    static let connection = 1.5

    /// Of one access, in nanoseconds.
    static let longestWait = 60_000_000.0

    /// The same goal wherever the contest places the threads of the setting.
    private static func goals(
        _ contest: Contest,
        _ setting: Setting,
        _ ours: String,
        _ peers: [String],
        _ measure: Cells.Measure = .time,
        atMost: Double
    ) -> [Goal] {
        contest.settings.filter { $0.name == setting.name }.map {
            Goal(cell: Cell(contest, $0, ours, peers, measure), atMost: atMost)
        }
    }
}

extension Contest {
    /// How the report calls it in a setting.
    func title(in setting: Setting) -> String { "\(name), \(setting.name), \(setting.placement)" }
}
