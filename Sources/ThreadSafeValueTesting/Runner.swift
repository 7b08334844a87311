//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
import Foundation
import ThreadSafeValue

/// A runner goes on by itself in a schedule: a thread, a part of a task between two awaits, a block of a queue, a timer. And
/// a task as a whole, which sleeps until its last part is over.
///
/// Only the thread with the baton uses what changes here.
final class Runner: @unchecked Sendable {
    static let local = ThreadLocal<Runner>()

    /// The runner of the calling thread.
    static var current: Runner? { local.object }

    /// Whether it can go on. With the mutex.
    var isAwake: Bool { if let sleep { run.wakes[ObjectIdentifier(sleep.place)] != nil } else { true } }

    let name: String
    let run: Run
    let baton = DispatchSemaphore(value: 0)

    /// The work of the runner; `nil` once it has begun.
    var body: (() -> Void)?

    /// The thing that it waits for, and until when: a parker, a timer, or another runner that is to end. For a task as a whole, the
    /// run, which nothing wakes.
    var sleep: (place: AnyObject, time: UInt64)?

    /// When the time-out of the test ends that it began last.
    var timeout = UInt64.max

    /// The serial queue that it is a block of.
    var queue: UInt?

    /// The task that it is as a whole.
    var task: Task<Void, Never>?

    /// Not interrupted by others: the test names its threads, or checks what they did.
    var isAlone = false

    init(_ name: String, _ run: Run, after place: AnyObject? = nil, _ body: (() -> Void)? = nil) {
        (self.name, self.run, self.body, sleep) = (name, run, body, place.map { ($0, .max) })
    }
}

/// A thread of the system, which is kept from schedule to schedule.
final class Worker: @unchecked Sendable {
    /// Workers that run nothing. With the mutex.
    nonisolated(unsafe) private static var idle: [Worker] = []

    private let start = DispatchSemaphore(value: 0)
    private var runner: Runner?

    static func begin(_ runner: Runner) {
        let worker = Run.mutex.withLock { unsafe idle.popLast() } ?? Worker()
        worker.runner = runner
        worker.start.signal()
    }

    private init() { Thread.detachNewThread(work) }

    private func work() {
        while true {
            start.wait()
            let runner = runner.take()!
            Runner.local.object = runner
            runner.body.take()!()
            Runner.local.object = nil
            // The last one is the first to go on: this one, if what is next has not begun.
            Run.mutex.withLock { unsafe Self.idle.append(self) }
            runner.run.finish(runner)
        }
    }
}

/// Runs the parts of one task of the test, and those of its child tasks and their actors.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class TaskPool: TaskExecutor, @unchecked Sendable {
    private let (name, run): (String, Run)

    /// The identity of the task in the system: it is the first one here.
    private var id: String?

    init(_ name: String, _ run: Run) { (self.name, self.run) = (name, run) }

    func enqueue(_ job: consuming ExecutorJob) {
        guard let me = Runner.current else { return run.fail(outside: "Something", "resumes \(name)") }
        let (next, job) = (job.description, UnownedJob(job))
        id = id ?? next
        // The part of an actor belongs to no task.
        let part = !next.contains(where: \.isNumber) ? "actor" : next == id ? name : "child of \(name)"
        // Nothing runs before all are named.
        let body = { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        run.runners.append(Runner(part, run, after: me.isAlone ? me : nil, body))
    }
}
#endif
