//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
import Dispatch
import Foundation
import ThreadSafeValue

/// Runs the parts of tasks as threads of the schedule.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class TaskPool: TaskExecutor {
    private let run: Run

    init(_ run: Run) { self.run = run }

    func enqueue(_ job: consuming ExecutorJob) {
        let id = job.description
        let job = UnownedJob(job)
        run.mutex.lock()
        defer { run.mutex.unlock() }
        let runner = Runner(run.jobName(id), run) { [self] _ in unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
        run.runners.append(runner)
        run.idleCount = 0
        if Runner.current == nil { run.noteOutside("Something resumes \(runner.name)") }
    }
}

extension Run {
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func start(_ name: String, _ body: @escaping @Sendable () async -> Void) {
        mutex.withLock { nextJobName = name }
        let task = Task(executorPreference: TaskPool(self)) { [self] in
            await body()
            mutex.withLock { tasks.removeAll { $0.name == name } }
        }
        mutex.withLock { tasks.append((name, task)) }
    }

    func cancel(_ name: String) {
        let task = mutex.withLock { tasks.first { $0.name == name }?.task }
        guard let me = Runner.current, let task else { return }
        mutex.lock()
        passBaton(from: me)
        mutex.withLock { steps.append(Step(runner: me.name, what: "cancel of \(name)")) }
        task.cancel()
    }

    /// A name for a part of a task: that of the task. The numbers of the system are other ones in each run.
    fileprivate func jobName(_ id: String) -> String {
        // The part of an actor belongs to no task.
        if !id.contains(where: \.isNumber) { return "actor" }
        if let known = jobNames[id] { return known }
        let name = nextJobName.take() ?? "child of \(Runner.current?.name ?? "a task")"
        jobNames[id] = name
        return name
    }
}
#endif
