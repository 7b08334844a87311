//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The jobs of an actor, for a thread to run.
final class Jobs: SerialExecutor {
    private let jobs = Log<UnownedJob>()

    func enqueue(_ job: UnownedJob) {
        jobs.add(job)
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// Runs the next job on the calling thread, if there is one.
    func run() -> Bool {
        guard let job = jobs.takeFirst() else { return false }
        unsafe job.runSynchronously(on: asUnownedSerialExecutor())
        return true
    }
}
