//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// Runs tasks on threads of its own, however busy the cooperative pool is.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class QueueExecutor: TaskExecutor {
    static let shared = QueueExecutor()
    let queue = DispatchQueue(label: "tasks", attributes: .concurrent)
    private let whenAsked: @Sendable () -> Void

    /// - Parameter whenAsked: called on the thread that lets a task start or go on.
    init(whenAsked: @escaping @Sendable () -> Void = {}) {
        self.whenAsked = whenAsked
    }

    /// Lets no task start or go on from now on. Those that run are suspended first: one that is resumed before that does
    /// not ask its executor.
    func suspend() {
        queue.sync(flags: .barrier) {}
        queue.suspend()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        whenAsked()
        let (job, executor) = unsafe (UnownedJob(job), asUnownedTaskExecutor())
        queue.async { unsafe job.runSynchronously(on: executor) }
    }
}
