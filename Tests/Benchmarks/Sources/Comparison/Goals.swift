//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Workloads

/// How fast one contestant is to be, beside others of the same run.
struct Goal {
    /// The title of a contest in a setting.
    let title: String
    let ours: String
    /// Compared with the fastest of them.
    let peers: [String]
    let measure: Cells.Measure
    let atMost: Double
    /// Whether it is one of the eight rows of the README: what a reader would choose by, won or lost.
    let isInSummary: Bool

    static let debug = "change, debug build"

    static let all: [Goal] = changes + reads + submissions + holds

    private static let changes: [Goal] = [
        Goal(.changes, .alone, "Protected.write", "Mutex", atMost: 1.1, isInSummary: true),
        Goal(.changes, .alone, "Protected.write", "NIOLockedValueBox", atMost: 1),
        Goal(.changes, .crowd, "Protected.write", "NIOLockedValueBox", atMost: 1, isInSummary: true),
        Goal(.changes, .crowd, "Protected.write", "Mutex", atMost: 0.03),
        Goal(.changes, .alone, "@Protected count += 1", "Mutex", atMost: 1.15),
        Goal(.changes, .alone, "$model.count += 1", "Mutex", atMost: 1.15),
        Goal(debug, "Protected.write", ["Mutex"], atMost: 2, isInSummary: true),
        Goal(.changes, .alone, "wait.highestPriority.set { }", "Mutex", atMost: 1, isInSummary: true),
        Goal(.changes, .alone, "wait.lowestPriority.set { }", "Mutex", atMost: 1),
        Goal(.changes, .pair, "wait.highestPriority.set { }", "NIOLockedValueBox", atMost: 0.6),
        Goal(.changes, .pair, "wait.lowestPriority.set { }", "NIOLockedValueBox", atMost: 0.6),
        Goal(.changes, .crowd, "wait.highestPriority.set { }", "NIOLockedValueBox", atMost: 0.6, isInSummary: true),
        Goal(.changes, .crowd, "wait.lowestPriority.set { }", "NIOLockedValueBox", atMost: 0.6),
        Goal(.changes, .crowd, "wait.highestPriority.set { }", "Mutex", atMost: 0.03),
        Goal(.changes, .crowd, "wait.highestPriority.set { }", "DispatchQueue.sync", atMost: 0.03),
        Goal(.changes, .alone, "QueueSafeSyncedValue: set { }", "Mutex", atMost: 1),
        Goal(.changes, .alone, "a global: set { }", "a global Mutex", atMost: 1),
        Goal(.changes, .alone, "kept commands: set { }", "NIOLockedValueBox", atMost: 0.87),
        Goal(.changes, .pair, "kept commands: set { }", "NIOLockedValueBox", atMost: 0.46),
        Goal(.changes, .crowd, "kept commands: set { }", "NIOLockedValueBox", atMost: 0.41),
        Goal(.changes, .crowd, "wait(timeout:): set { }", "wait.highestPriority.set { }", atMost: 1.2),
        Goal(.changes, .alone, "set { current, done in }", "Mutex", atMost: 5),
    ]

    private static let reads: [Goal] = [
        Goal(.reads, .alone, "wait.highestPriority.get()", "Mutex", atMost: 1),
        Goal(.reads, .alone, "wait.lowestPriority.get()", "Mutex", atMost: 1),
        Goal(.reads, .pair, "wait.highestPriority.get()", "NIOLockedValueBox", atMost: 0.6),
        Goal(.reads, .pair, "wait.lowestPriority.get()", "NIOLockedValueBox", atMost: 0.6),
        Goal(.reads, .crowd, "wait.highestPriority.get()", "NIOLockedValueBox", atMost: 0.6),
        Goal(.reads, .crowd, "wait.lowestPriority.get()", "NIOLockedValueBox", atMost: 0.6),
        Goal(.reads, .alone, "QueueSafeSyncedValue: get()", "Mutex", atMost: 1),
        Goal(.reads, .alone, "a global: get()", "a global Mutex", atMost: 1),
        Goal(.lookups, .alone, "Protected.read { $0[key] }", "Mutex", atMost: 1.05),
    ]

    private static let submissions: [Goal] = [
        ("async.set { }", "DispatchQueue.async + lock", 0.6, 0.6, 0.8),
        ("async.set { } completion: { }", "DispatchQueue.async + lock, completion", 0.8, 0.8, 0.8),
        ("async.set { current, done in }", "DispatchQueue.async + lock", 1, 1, 1),
    ].flatMap { ours, peer, processorTime, one, two in
        let isInSummary = ours == "async.set { }"
        return [
            Goal(.submissions, .alone, ours, peer, .processorTime, atMost: processorTime, isInSummary: isInSummary),
            Goal(.submissions, .alone, ours, peer, atMost: one),
            Goal(.submissions, .pair, ours, peer, atMost: two),
        ]
    }

    private static let holds: [Goal] =
        [
            Goal(.awaits, .oneTask, awaited, "actor", atMost: 1),
            Goal(.awaits, .eightTasks, awaited, "actor", atMost: 1, isInSummary: true),
        ]
        + [
            (Contest.held1, Setting.pair, 1.05, 1.1),
            (.held64, .multitude, 1.1, 1.5),
            (.heldForNothing, .multitude, 1.1, 2),
        ].flatMap { contest, setting, ofProtected, ofWait in
            [
                Goal(contest.title(in: setting), "Protected.write", locks, atMost: ofProtected),
                Goal(
                    contest.title(in: setting),
                    "wait.highestPriority.set { }",
                    locks,
                    atMost: ofWait,
                    isInSummary: contest.name == Contest.held64.name
                ),
            ]
        }

    private static let awaited = "await value.async.highestPriority.set { }"
    private static let locks = ["Mutex", "NIOLockedValueBox"]

    /// One pending command of 1,000,000 beside one of 1,000, and its bytes.
    static let pendingTime = 1.2
    static let pendingBytes = 160.0

    /// A command with 10,000 target queues beside one with one.
    static let manyTargets = 2.0

    /// Of one access, in nanoseconds.
    static let longestWait = 30_000_000.0

    private init(
        _ title: String,
        _ ours: String,
        _ peers: [String],
        _ measure: Cells.Measure = .time,
        atMost: Double,
        isInSummary: Bool = false
    ) {
        self.title = title
        self.ours = ours
        self.peers = peers
        self.measure = measure
        self.atMost = atMost
        self.isInSummary = isInSummary
    }

    private init(
        _ contest: Contest,
        _ setting: Setting,
        _ ours: String,
        _ peer: String,
        _ measure: Cells.Measure = .time,
        atMost: Double,
        isInSummary: Bool = false
    ) {
        self.init(contest.title(in: setting), ours, [peer], measure, atMost: atMost, isInSummary: isInSummary)
    }
}

extension Contest {
    /// How the report calls it in a setting.
    func title(in setting: Setting) -> String { "\(name), \(setting.name)" }
}
