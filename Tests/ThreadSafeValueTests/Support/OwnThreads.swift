//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation

/// Threads of their own for tasks, so that these go on while other tests block the pool that all tasks share.
enum OwnThreads {
    /// Starts a task on them.
    @discardableResult
    static func run(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return Task { await body() } }
        return Task(executorPreference: QueueExecutor.shared) { await body() }
    }
}

/// Runs a closure on a thread of its own while the caller's task is suspended: a test that blocks must not take a
/// thread of the pool that its own tasks need.
func onThreadOfItsOwn<Answer: Sendable>(_ body: @escaping @Sendable () throws -> Answer) async throws -> Answer {
    // Under a lock, as the thread sanitizer does not see that what the thread did comes before what the resumed task does.
    let answers = Log<Result<Answer, any Error>>()
    await withCheckedContinuation { continuation in
        Thread {
            answers.add(Result { try body() })
            continuation.resume()
        }.start()
    }
    return try answers.takeFirst()!.get()
}
