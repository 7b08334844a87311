//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// Runs tasks on threads of its own, however busy the cooperative pool is, while the queue is not suspended.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class QueueExecutor: TaskExecutor {
    static let shared = QueueExecutor()
    let queue = DispatchQueue(label: "tasks", attributes: .concurrent)
    private let delay: DispatchTimeInterval
    private let whenAsked: @Sendable () -> Void

    /// - Parameters:
    ///   - delay: How long it takes to let a task start or go on.
    ///   - whenAsked: called on the thread that lets a task start or go on.
    init(delay: DispatchTimeInterval = .never, whenAsked: @escaping @Sendable () -> Void = {}) {
        self.delay = delay
        self.whenAsked = whenAsked
    }

    func enqueue(_ job: consuming ExecutorJob) {
        whenAsked()
        let (job, executor) = unsafe (UnownedJob(job), asUnownedTaskExecutor())
        let run = DispatchWorkItem { unsafe job.runSynchronously(on: executor) }
        if delay == .never {
            queue.async(execute: run)
        } else {
            queue.asyncAfter(deadline: .now() + delay, execute: run)
        }
    }
}
