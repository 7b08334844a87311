//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Workloads

/// How fast one contestant is to be, beside another one of the same run.
struct Goal {
    let contest: Contest
    let setting: Setting
    let ours: String
    let peer: String
    let atMost: Double

    static let all: [Goal] = [
        Goal(.changes, .alone, "Protected.write", "NIOLockedValueBox", atMost: 1),
        Goal(.changes, .alone, "Protected.write", "Mutex", atMost: 1.1),
        Goal(.changes, .crowd, "Protected.write", "NIOLockedValueBox", atMost: 1),
        Goal(.changes, .crowd, "Protected.write", "Mutex", atMost: 0.03),
        Goal(.changes, .alone, "@Protected count += 1", "Mutex", atMost: 1.15),
        Goal(.changes, .alone, "$model.count += 1", "Mutex", atMost: 1.15),
        Goal(.changes, .alone, "wait.set { }", "Mutex", atMost: 1),
        Goal(.reads, .alone, "wait.get()", "Mutex", atMost: 1),
        Goal(.changes, .pair, "wait.set { }", "Mutex", atMost: 0.6),
        Goal(.reads, .pair, "wait.get()", "Mutex", atMost: 0.6),
        Goal(.changes, .crowd, "wait.set { }", "DispatchQueue.sync", atMost: 0.03),
        Goal(.changes, .crowd, "wait.set { }", "Mutex", atMost: 0.03),
        Goal(.changes, .crowd, "wait.set { }", "NIOLockedValueBox", atMost: 1.5),
        Goal(.reads, .crowd, "wait.get()", "DispatchQueue.sync", atMost: 0.03),
        Goal(.reads, .crowd, "wait.get()", "Mutex", atMost: 0.03),
        Goal(.reads, .crowd, "wait.get()", "NIOLockedValueBox", atMost: 1.5),
        Goal(.submissions, .alone, "async.set { }", "DispatchQueue.async + lock", atMost: 0.6),
    ]

    /// One pending command of 1,000,000 beside one of 1,000, and its bytes.
    static let pendingTime = 1.2
    static let pendingBytes = 160.0

    private init(_ contest: Contest, _ setting: Setting, _ ours: String, _ peer: String, atMost: Double) {
        self.contest = contest
        self.setting = setting
        self.ours = ours
        self.peer = peer
        self.atMost = atMost
    }
}
