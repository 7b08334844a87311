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
/// It sleeps for some microseconds between two looks, after `looks` in a row. After five seconds it prints what it waits
/// for, so that the output of a run that is stopped tells why.
func poll(
    seconds: TimeInterval = 240,
    looks: Int = 1,
    _ what: String,
    file: String = #fileID,
    line: Int = #line,
    until isTrue: () throws -> Bool
) throws {
    let start = Date()
    var looked = 0
    var isSaid = false
    while try !isTrue() {
        let waited = Date().timeIntervalSince(start)
        guard waited < seconds else { throw Hung(description: "It never came true: \(what), at \(file):\(line).") }
        if waited > 5, !isSaid {
            isSaid = true
            print("A test has waited for 5 s: \(what), at \(file):\(line).")
            fflush(nil)
        }
        looked += 1
        if looked >= looks { usleep(50) }
    }
}

extension QueueSafeValue {
    /// Waits until as many commands stand in line.
    func waitForPending(_ count: Int, file: String = #fileID, line: Int = #line) throws {
        try poll("\(count) commands in line", file: file, line: line) { pendingCommandCount() == count }
    }
}
