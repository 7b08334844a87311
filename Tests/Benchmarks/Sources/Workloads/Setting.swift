//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CMachine

/// How many threads or tasks do the same at once, and where they and the workers of queues run.
public struct Setting: Sendable {
    /// How reports call it.
    public let name: String

    /// How many threads there are.
    public let threads: Int

    /// How many tasks each thread starts, where tasks do the work.
    public let tasks: Int

    /// Whether threads are pinned to cores, and not left to the system.
    public private(set) var isPinned = true

    /// One set of cores for each thread in turn: a bit for each core.
    private var threadCores: [UInt64]
    /// Where the threads of dispatch queues and tasks are sent.
    private var workerCores: UInt64

    /// Pins a single thread to one core and the workers to another, and several threads and the workers to two cores.
    public init(_ name: String, threads: Int = 1, tasks: Int = 1) {
        self.name = name
        self.threads = threads
        self.tasks = tasks
        threadCores = threads > 1 ? [Self.first, Self.second] : [Self.first]
        workerCores = threads > 1 ? Self.first | Self.second : Self.second
    }
}

extension Setting {
    private static let first = UInt64(1) << machine_core(0)
    private static let second = UInt64(1) << machine_core(machine_core_count() > 1 ? 1 : 0)
    private static let all = (0..<machine_core_count()).reduce(UInt64(0)) { $0 | 1 << machine_core($1) }

    /// One thread.
    public static let alone = Setting("1 thread")

    /// Two threads.
    public static let pair = Setting("2 threads", threads: 2)

    /// More threads than cores.
    public static let crowd = Setting("8 threads", threads: 8)

    /// So many threads that few of those which want the value can run.
    public static let multitude = Setting("64 threads", threads: 64)

    // Any worker may run any task: there is nothing to pin.

    /// One task.
    public static let oneTask = Setting("1 task").leftToSystem

    /// More tasks than cores.
    public static let eightTasks = Setting("8 tasks", tasks: 8).leftToSystem

    /// Many more tasks than there are connections.
    public static let manyTasks = Setting("64 tasks", tasks: 64).leftToSystem

    /// The same with all cores for each thread and worker.
    public var leftToSystem: Setting {
        var setting = self
        setting.isPinned = false
        setting.threadCores = [Self.all]
        setting.workerCores = Self.all
        return setting
    }

    /// The setting in both placements.
    public var placements: [Setting] { [self, leftToSystem] }

    /// How reports call the placement.
    public var placement: String { isPinned ? "pinned" : "system" }

    /// Whether threads may have to share a core.
    public var sharesCores: Bool { !isPinned || threads > threadCores.count }

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
