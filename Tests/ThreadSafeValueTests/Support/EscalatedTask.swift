//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import ThreadSafeValue

/// A task that waits for something, and whose priority changes meanwhile: another thread is in the handler of that, with
/// the lock that the runtime takes when it resumes the task.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
final class EscalatedTask: Sendable {
    private let begins = Door()
    private let isHandled = Door()
    private let executor = QueueExecutor()
    let task: Task<Void, Never>

    /// - Parameters:
    ///   - wait: What the task waits for.
    ///   - handle: What is done when its priority changes.
    init(
        _ wait: @escaping @Sendable () async -> Void,
        onEscalation handle: @escaping @Sendable () -> Void
    ) {
        task = Task.detached(executorPreference: executor, priority: .background) { [begins, isHandled] in
            await withTaskPriorityEscalationHandler {
                begins.open()
                await wait()
            } onPriorityEscalated: { _, _ in
                isHandled.open()
                handle()
            }
        }
    }

    /// Returns when the task is suspended.
    func waitUntilSuspended() {
        begins.waitUntilOpen()
        executor.queue.sync(flags: .barrier) {}
    }

    /// Returns when another thread is in the handler.
    func escalate() {
        _ = RunningThread { [task] in task.escalatePriority(to: .high) }
        isHandled.waitUntilOpen()
    }

    /// Has the task wait while a closure with the turn of another value, and with the lock of one more, does something
    /// that ends that; and the handler wait for both values.
    ///
    /// - Parameters:
    ///   - body: What the closure does.
    ///   - wait: What the task waits for.
    /// - Throws: If not all is done in time.
    static func checkInClosure(
        _ body: @escaping @Sendable () -> Void,
        whileTask wait: @escaping @Sendable () async -> Void
    ) async throws {
        giveUp(afterSeconds: 60)
        let (queued, locked) = (QueueSafeValue(value: 0), Protected(0))
        let escalated = EscalatedTask(wait) {
            queued.wait.lowestPriority.set { $0 += 1 }
            locked.wrappedValue += 1
        }
        try await onThreadOfItsOwn {
            escalated.waitUntilSuspended()
            queued.wait.lowestPriority.set { number in
                locked.write { locked in
                    escalated.escalate()
                    body()
                    locked += 1
                }
                number += 1
            }
        }
        await escalated.task.value
        // The task may go on before all is done that was to be done.
        try await onThreadOfItsOwn {
            try poll("all is done") { queued.wait.lowestPriority.get() == .success(2) && locked.wrappedValue == 2 }
        }
    }
}
