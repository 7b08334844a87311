//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

/// To resume a task takes a lock of that in the runtime, under which another thread runs what is to be done when the
/// priority of the task changes, or when it is cancelled. Here that is under way, and waits for what the closure has.
@Suite("A change in a closure does not wait for the task that listens to it")
struct ListeningTaskTests {
    @Test func `Loops are resumed independently, also where an executor runs a task in place`() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        try await onThreadOfItsOwn {
            try inTime {
                let value = Protected(0)
                let (told, over) = (Door(), Door())
                let (first, second) = (value.changes(), value.changes())
                // Each runs here until it waits. What the first does then, waits for the second.
                Task(executorPreference: InPlaceExecutor.shared) {
                    for await _ in first { break }
                    told.waitUntilOpen()
                    over.open()
                }
                Task(executorPreference: InPlaceExecutor.shared) {
                    for await _ in second { break }
                    told.open()
                }
                value.wrappedValue = 1
                over.waitUntilOpen()
            }
        }
    }

    @Test
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func `Nor does one of a protected value`() async {
        await #expect(processExitsWith: .success) {
            let value = Protected(0)
            try await EscalatedTask.checkInClosure {
                value.wrappedValue += 1
            } whileTask: {
                for await _ in value.changes() { return }
            }
        }
    }

    @Test
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func `Nor does one that meets a condition of a protected value`() async {
        await #expect(processExitsWith: .success) {
            let value = Protected(0)
            try await EscalatedTask.checkInClosure {
                value.wrappedValue += 1
            } whileTask: {
                try? await value.wait { $0 > 0 }
            }
        }
    }

    @Test
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func `Nor does one of a queue-safe value`() async {
        await #expect(processExitsWith: .success) {
            let value = QueueSafeValue(value: 0)
            try await EscalatedTask.checkInClosure {
                value.wait.lowestPriority.set { $0 += 1 }
            } whileTask: {
                for await _ in value.changes() { return }
            }
        }
    }

    @Test
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func `Nor does the end of a value`() async {
        await #expect(processExitsWith: .success) {
            let value = Protected<QueueSafeValue<Int>?>(QueueSafeValue(value: 0))
            let changes = value.wrappedValue!.changes()
            try await EscalatedTask.checkInClosure {
                value.wrappedValue = nil
            } whileTask: {
                for await _ in changes {}
            }
        }
    }
}

/// Runs each part of a task on the thread that lets it go on.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class InPlaceExecutor: TaskExecutor {
    static let shared = InPlaceExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        unsafe UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
}
