//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
import Dispatch
import Foundation
import ThreadSafeValue

/// What goes on by itself in a schedule: a thread, a part of a task between two awaits, a block of a queue.
final class Runner: @unchecked Sendable {
    let name: String
    let run: Run

    // All that changes is guarded by the mutex of the run, but `body`, which its own thread takes.
    var body: ((Run) -> Void)?
    var worker: Worker?

    /// Where it sleeps, and until when.
    var sleep: (place: AnyObject, time: UInt64)?
    var isWoken = false

    /// When the time-out ends that it began last.
    var timeout: UInt64?

    /// The serial queue that it is a block of.
    var queue: UInt?

    /// What it may have: accesses that are not over, as far as it is known.
    var taken: [(step: Int, entry: Entry)] = []

    /// Runs nothing yet: the test names its threads.
    var isSetup = false

    init(_ name: String, _ run: Run, _ body: ((Run) -> Void)? = nil) {
        (self.name, self.run, self.body) = (name, run, body)
    }
}

extension Runner {
    private static let local = ThreadLocal<Runner>()

    /// That of the calling thread.
    static var current: Runner? {
        get { local.object }
        set { local.object = newValue }
    }
}

/// A thread of the system, which is kept from schedule to schedule. It runs only while it has the baton.
final class Worker: @unchecked Sendable {
    let baton = DispatchSemaphore(value: 0)

    /// What it runs next. Written before it gets the baton.
    var runner: Runner?

    private static let lock = NSLock()
    nonisolated(unsafe) private static var idle: [Worker] = []

    /// One that nothing else runs on.
    static func take(for runner: Runner) -> Worker {
        let known = lock.withLock { unsafe idle.popLast() }
        let worker = known ?? Worker()
        worker.runner = runner
        if known == nil { Thread.detachNewThread { worker.work() } }
        return worker
    }

    private func work() {
        while true {
            baton.wait()
            let runner = runner!
            Runner.current = runner
            runner.body.take()!(runner.run)
            Runner.current = nil
            self.runner = nil
            Self.lock.withLock { unsafe Self.idle.append(self) }
            runner.run.finish(runner)
        }
    }
}
#endif
