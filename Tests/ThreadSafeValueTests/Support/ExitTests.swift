//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing

/// Ends this process if it still runs after some seconds: a test's own time limit can't stop a thread that waits.
func giveUp(afterSeconds seconds: UInt32) {
    alarm(seconds)
}

// With Swift 6.2 the closure of an exit test captures nothing. So a test has one exit test for each argument, or one that
// goes through all of them.

/// What an exit test keeps of a process that crashes.
let standardError: [any PartialKeyPath<ExitTest.Result> & Sendable] = [\.standardErrorContent]

extension ExitTest.Result {
    /// What the process said when it crashed, or that it hung.
    var crashMessage: String {
        exitStatus == .signal(SIGALRM) ? "It hung." : String(decoding: standardErrorContent, as: UTF8.self)
    }
}
