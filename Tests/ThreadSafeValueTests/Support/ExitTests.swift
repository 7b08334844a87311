//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing

/// Ends this process if it still runs after some seconds: a test's own time limit can't stop a thread that waits.
func giveUp(afterSeconds seconds: UInt32) {
    alarm(seconds)
}

extension ExitTest.Result {
    /// What the process said when it crashed, or that it hung.
    var crashMessage: String {
        exitStatus == .signal(SIGALRM) ? "It hung." : String(decoding: standardErrorContent, as: UTF8.self)
    }
}
