//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A closure that runs on a thread of a queue while a task awaits it, as a part of that task.
final class AwaitedClosure: Sendable {
    /// The async body that the task is in.
    let body = TaskBody.current

    /// The task, or the one that awaits that: see `Submitter`.
    let submitter = Submitter.taskIdentity
}

extension AwaitedClosure {
    private static let running = ThreadLocal<AwaitedClosure>()

    /// The one that the calling thread runs.
    static var current: AwaitedClosure? { running.object }

    /// Runs `operation` as this closure, on a thread that has no task.
    func run<Answer>(_ operation: () -> Answer) -> Answer {
        let outer = Self.running.object
        Self.running.object = self
        defer { Self.running.object = outer }
        return operation()
    }
}
