//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import ThreadSafeValue

/// Why a test has no answer: its threads wait for something that never comes.
struct Hung: Error, CustomStringConvertible {
    let description: String
}

/// Runs a closure on a thread of its own and waits for its answer, but not forever: a test that hangs fails.
///
/// Threads that hang stay behind, and do no harm to other tests.
func inTime<Answer: Sendable>(
    seconds: Int = 300,
    _ body: @escaping @Sendable () throws -> Answer
) throws -> Answer {
    Mistakes.keepQuiet()
    let answer = Log<Result<Answer, any Error>>()
    let end = DispatchSemaphore(value: 0)
    Thread {
        answer.add(Result { try body() })
        end.signal()
    }.start()
    guard end.wait(timeout: .now() + .seconds(seconds)) == .success else {
        throw Hung(description: "It hung: no end after \(seconds) s.")
    }
    return try answer.entries[0].get()
}

/// Waits until a condition holds that nothing announces. Only for what must come true: gives up after a long time.
///
/// It sleeps for some microseconds between two looks, after `looks` in a row.
func poll(seconds: TimeInterval = 240, looks: Int = 1, _ what: String, until isTrue: () throws -> Bool) throws {
    let end = Date(timeIntervalSinceNow: seconds)
    var looked = 0
    while try !isTrue() {
        guard Date() < end else { throw Hung(description: "It never came true: \(what).") }
        looked += 1
        if looked >= looks { usleep(50) }
    }
}

extension QueueSafeValue {
    /// Waits until as many commands stand in line.
    func waitForPending(_ count: Int) throws {
        try poll("\(count) commands in line") { pendingCommandCount() == count }
    }
}
