//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import ThreadSafeValue
import Workloads

/// What a command costs, to submit and to run, while one other target queue has a command in line, and while 10,000
/// have.
struct ManyTargets {
    static let many = 10_000
    private static let commands = 200

    /// Nanoseconds of a command, one for each round.
    private(set) var one: [Double] = []
    private(set) var all: [Double] = []

    static func measure(_ effort: Effort) -> ManyTargets {
        var times = ManyTargets()
        for _ in 0..<effort.pendingRounds {
            times.one.append(onThreads(in: .alone) { _ in time(of: 1) }[0])
            times.all.append(onThreads(in: .alone) { _ in time(of: many) }[0])
        }
        return times
    }

    var ratio: Ratio {
        Ratio(zip(all, one).map { $0 / $1 })
    }

    /// The last of the commands, which are of the highest priority, suspends the value again: the others' never run.
    private static func time(of count: Int) -> Double {
        let value = QueueSafeValue(value: 0)
        value.suspend()
        let queue = DispatchQueue(label: "measured")
        queue.async { Setting.alone.placeWorker() }
        let others = (0..<count).map { _ in DispatchQueue(label: "waiting") }
        let handles = others.map { value.async(performIn: $0).lowestPriority.set { $0 &+= 1 } }
        let end = Handed<UInt64>()
        let start = nanoseconds()
        for _ in 1..<commands { value.async(performIn: queue).highestPriority.set { $0 &+= 1 } }
        value.async(performIn: queue).highestPriority.set { number in
            number &+= 1
            value.suspend()
            end.hand(nanoseconds())
        }
        value.resume()
        let time = Double(end.take() - start) / Double(commands)
        for handle in handles { handle.cancel() }
        return time
    }
}
