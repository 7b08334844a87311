//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

/// To resume a task takes a lock of that in the runtime, under which another thread runs what is to be done when the
/// priority of the task changes, or when it is cancelled. Here that is under way, and waits for what the closure has.
@Suite("A change in a closure does not wait for the task that listens to it")
struct ListeningTaskTests {
    @Test
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func `Nor does one of a protected value`() async {
        await #expect(processExitsWith: .success) {
            let value = Protected(0)
            try await Self.checkInClosure {
                value.wrappedValue += 1
            } of: {
                for await _ in value.changes { return }
            }
        }
    }

    @Test
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func `Nor does one that meets a condition of a protected value`() async {
        await #expect(processExitsWith: .success) {
            let value = Protected(0)
            try await Self.checkInClosure {
                value.wrappedValue += 1
            } of: {
                try? await value.wait { $0 > 0 }
            }
        }
    }

    @Test
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func `Nor does one of a queue-safe value`() async {
        await #expect(processExitsWith: .success) {
            let value = QueueSafeValue(value: 0)
            try await Self.checkInClosure {
                value.wait.lowestPriority.set { $0 += 1 }
            } of: {
                for await _ in value.changes { return }
            }
        }
    }

    @Test
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func `Nor does one that meets a condition of a queue-safe value`() async {
        await #expect(processExitsWith: .success) {
            let value = QueueSafeValue(value: 0)
            try await Self.checkInClosure {
                value.wait.lowestPriority.set { $0 += 1 }
            } of: {
                await value.async.lowestPriority.set(when: { $0 > 0 }) { $0 += 1 }
            }
        }
    }

    @Test
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func `Nor does the end of a value`() async {
        await #expect(processExitsWith: .success) {
            let value = Protected<QueueSafeValue<Int>?>(QueueSafeValue(value: 0))
            let changes = value.wrappedValue!.changes
            try await Self.checkInClosure {
                value.wrappedValue = nil
            } of: {
                for await _ in changes {}
            }
        }
    }

    @Test
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func `Nor does the end of a suspended value for one that awaits a command`() async {
        await #expect(processExitsWith: .success) {
            let value = Protected<QueueSafeValue<Int>?>(QueueSafeValue(value: 0))
            value.wrappedValue!.suspend()
            let command = value.wrappedValue!.async.lowestPriority.submit { $0 += 1 }
            try await Self.checkInClosure {
                value.wrappedValue = nil
            } of: {
                guard case .failure(.valueContainerDeinited) = await command.value else {
                    fatalError("The value is there still.")
                }
            }
        }
    }

    /// - Parameters:
    ///   - change: What a closure does, with the turn of another value or its lock.
    ///   - wait: What the task waits for.
    /// - Throws: If not all is done in time.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private static func checkInClosure(
        _ change: @escaping @Sendable () -> Void,
        of wait: @escaping @Sendable () async -> Void
    ) async throws {
        giveUp(afterSeconds: 60)
        let (queued, locked) = (QueueSafeValue(value: 0), Protected(0))
        let (begins, isHandled, executor) = (Door(), Door(), QueueExecutor())
        let task = Task.detached(executorPreference: executor, priority: .background) {
            await withTaskPriorityEscalationHandler {
                begins.open()
                await wait()
            } onPriorityEscalated: { _, _ in
                isHandled.open()
                queued.wait.lowestPriority.set { $0 += 1 }
                locked.wrappedValue += 1
            }
        }
        try await onThreadOfItsOwn {
            begins.waitUntilOpen()
            // The task is suspended.
            executor.queue.sync(flags: .barrier) {}
            queued.wait.lowestPriority.set { number in
                locked.write { locked in
                    _ = RunningThread { task.escalatePriority(to: .high) }
                    isHandled.waitUntilOpen()
                    change()
                    locked += 1
                }
                number += 1
            }
        }
        await task.value
        // The task may go on before all is done that was to be done.
        try await onThreadOfItsOwn {
            try poll("all is done") { queued.wait.lowestPriority.get() == .success(2) && locked.wrappedValue == 2 }
        }
    }
}
