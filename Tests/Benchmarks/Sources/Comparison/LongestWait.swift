//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Members
import Workloads

/// The longest time that a thread waited for one access, of 64 threads that change a value again and again, for 1 µs
/// each.
struct LongestWait {
    let name: String
    let isOurs: Bool
    let setting: Setting
    /// In nanoseconds, one for each round.
    private(set) var times: [Double] = []
    private let measure: @Sendable (_ time: UInt64) -> UInt64

    static func measure(_ effort: Effort) -> [LongestWait] {
        var all = Setting.multitude.placements.flatMap { setting in
            [
                LongestWait("Protected.write", isOurs: true, in: setting, of: ProtectedNumber.self),
                LongestWait("wait.highestPriority.set { }", isOurs: true, in: setting, of: HighestPriority.self),
                LongestWait("Mutex", isOurs: false, in: setting, of: MutexNumber.self),
                LongestWait("NIOLockedValueBox", isOurs: false, in: setting, of: NIONumber.self),
            ]
        }
        for _ in 0..<effort.growthRounds {
            for index in all.indices {
                let longest = all[index].measure(effort.longestWaitTime)
                all[index].times.append(Double(longest))
            }
        }
        return all
    }

    private init<Form: Holding>(_ name: String, isOurs: Bool, in setting: Setting, of form: Form.Type) {
        self.name = name
        self.isOurs = isOurs
        self.setting = setting
        measure = { time in
            let member = Form()
            let work = Work(nanoseconds: 1_000)
            let longest = onThreads(in: setting) { start -> UInt64 in
                var longest: UInt64 = 0
                var before = nanoseconds()
                while before < start + time {
                    member.change(for: work)
                    let now = nanoseconds()
                    longest = max(longest, now - before)
                    before = now
                }
                return longest
            }
            return longest.max()!
        }
    }
}
