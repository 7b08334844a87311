//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// One run of a test: its threads, its tasks, and what must be true after them.
///
/// Names of threads and tasks are what a failure calls them.
public final class Schedule: Sendable {
    #if EverySchedule
    let run: Run

    init(of run: Run) { self.run = run }
    #endif
}

extension Schedule {
    /// Adds a thread.
    ///
    /// - Parameters:
    ///   - name: What a failure calls the thread.
    ///   - body: What it does, on a thread of its own. The test fails if it throws.
    public func thread<Result>(_ name: String, _ body: @escaping @Sendable () throws -> Result) {
        #if EverySchedule
        run.starts.append { run in
            let runner = Runner(name, run) { run in run.note(name) { _ = try body() } }
            run.mutex.withLock { run.runners.append(runner) }
        }
        #endif
    }

    /// Adds a task: it, its child tasks and the actors that these call run on threads of the schedule.
    ///
    /// - Parameters:
    ///   - name: What a failure calls the task.
    ///   - body: What it does. The test fails if it throws, but for a `CancellationError`.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public func task<Result>(_ name: String, _ body: @escaping @Sendable () async throws -> Result) {
        #if EverySchedule
        run.starts.append { run in
            run.start(name) {
                do {
                    _ = try await body()
                } catch {
                    if !(error is CancellationError) { run.note(name) { throw error } }
                }
            }
        }
        #endif
    }

    /// Cancels a task of this schedule; to be called in its threads and tasks.
    ///
    /// - Parameter name: The name of the task.
    public func cancel(_ name: String) {
        #if EverySchedule
        run.cancel(name)
        #endif
    }

    /// Adds what must be true when all threads and tasks are over.
    ///
    /// - Parameters:
    ///   - name: What a failure calls it.
    ///   - isTrue: Called on the thread that called ``everySchedule(changes:limit:timeout:replaying:_:)``.
    public func check(_ name: String, _ isTrue: @escaping () throws -> Bool) {
        #if EverySchedule
        run.checks.append {
            do { return try isTrue() ? nil : "\(name): false" } catch { return "\(name): threw \(error)" }
        }
        #endif
    }
}
