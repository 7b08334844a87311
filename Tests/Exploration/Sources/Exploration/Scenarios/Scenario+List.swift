//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Scenario {
    /// The scenarios that are explored exhaustively.
    static let all = [
        Scenario("two waits", threads: [[.wait()], [.wait()]]),
        Scenario("a command and a wait", queues: [1], threads: [[.async(0)], [.wait()]]),
        Scenario("own writes are seen", queues: [1], threads: [[.async(0), .wait()]]),
        Scenario("two tasks", threads: [[.task()], [.task()]]),
    ]
}
