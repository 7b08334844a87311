//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// Runs a closure once on each of several real threads, which start together, and waits for all of them.
///
/// A pool or `concurrentPerform` may run everything on one thread; this doesn't.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ index: Int) -> Void) {
    let gate = StartGate(count: count)
    let threads = (0..<count).map { index in
        RunningThread {
            gate.pass()
            body(index)
        }
    }
    for thread in threads { thread.join() }
}

/// A real thread that has been started, and can be waited for.
struct RunningThread: Sendable {
    private let end = Door()

    init(_ body: @escaping @Sendable () -> Void) {
        let end = self.end
        let job = Job(body)
        Thread {
            job.run()
            end.open()
        }.start()
    }

    /// Waits until the thread is done, and has let go of all that it captured.
    func join() {
        end.waitUntilOpen()
    }
}

/// A closure that runs once and is let go then: a `Thread` keeps its own for longer.
private final class Job: @unchecked Sendable {
    // Touched by the maker, then by the thread.
    private var body: (@Sendable () -> Void)?

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    func run() {
        let body = self.body.take()
        body?()
    }
}
