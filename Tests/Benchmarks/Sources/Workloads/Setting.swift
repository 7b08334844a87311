//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CMachine

/// How many threads or tasks do the same at once, and where they and the workers of queues run.
public struct Setting: Sendable, Hashable {
    /// How reports call it.
    public let name: String

    /// How many threads there are.
    public let threads: Int

    /// How many tasks each thread starts, where tasks do the work.
    public let tasks: Int

    /// One set of cores for each thread in turn: a bit for each core.
    private let threadCores: [UInt64]
    /// Where the threads of dispatch queues and tasks are sent.
    private let workerCores: UInt64

    init(_ name: String, threads: Int, tasks: Int = 1, threadCores: [UInt64], workerCores: UInt64) {
        self.name = name
        self.threads = threads
        self.tasks = tasks
        self.threadCores = threadCores
        self.workerCores = workerCores
    }
}

extension Setting {
    private static let first = UInt64(1) << UInt64(machine_core(0))
    private static let second = UInt64(1) << UInt64(machine_core(machine_core_count() > 1 ? 1 : 0))

    /// One thread on one core; the workers of queues on another.
    public static let alone = Setting("1 thread", threads: 1, threadCores: [first], workerCores: second)

    /// Two threads, each on a core of its own.
    public static let pair = Setting(
        "2 threads pinned apart",
        threads: 2,
        threadCores: [first, second],
        workerCores: first | second
    )

    /// More threads than cores.
    public static let crowd = Setting(
        "8 threads on 2 cores",
        threads: 8,
        threadCores: [first, second],
        workerCores: first | second
    )

    /// So many threads that few of those which want the value can run.
    public static let multitude = Setting(
        "64 threads on 2 cores",
        threads: 64,
        threadCores: [first, second],
        workerCores: first | second
    )

    /// One task, on a core of its own.
    public static let oneTask = Setting("1 task", threads: 1, threadCores: [first], workerCores: second)

    /// More tasks than cores.
    public static let eightTasks = Setting(
        "8 tasks on 2 cores",
        threads: 1,
        tasks: 8,
        threadCores: [first],
        workerCores: first | second
    )

    /// Whether several threads are sent to one core.
    public var sharesCores: Bool { threads > Set(threadCores).count }

    /// Sends the calling thread to its core.
    public func placeThread(_ index: Int) {
        _ = machine_run_on(threadCores[index % threadCores.count])
    }

    /// Sends the calling worker of a queue to its cores.
    ///
    /// Left alone it would keep those of the thread that happened to start it.
    public func placeWorker() {
        _ = machine_run_on(workerCores)
    }
}
