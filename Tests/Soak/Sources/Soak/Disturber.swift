//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import ThreadSafeValue

/// Suspends values and target queues for a moment, keeps queues busy, and fills a value that has a bound.
struct Disturber {
    let round: Round
    let values: [QueueSafeValue<Account>]
    var random: Random

    mutating func run() {
        var counts = Counts()
        while !round.isOver {
            usleep(UInt32(200 + random.below(2_000)))
            switch random.below(4) {
            case 0:
                counts.add(.suspended)
                let value = values[random.below(values.count)]
                value.suspend()
                usleep(UInt32(random.below(1_000)))
                if case .failure = value.resume() { round.findings.violation("a suspended value was not") }
            case 1:
                counts.add(.queueSuspended)
                let queue = round.queues[random.below(3)]
                queue.suspend()
                usleep(UInt32(random.below(10_000)))
                queue.resume()
            case 2:
                counts.add(.queueBusy)
                let time = UInt32(random.below(10_000))
                round.queues[random.below(2)].async { usleep(time) }
            default: fill(&counts)
            }
        }
        round.findings.add(counts)
    }

    /// A value for two commands: the third is refused, and nothing else is.
    private func fill(_ counts: inout Counts) {
        counts.add(.refused)
        let value = QueueSafeValue(value: 0, pendingCommandLimit: 2)
        value.suspend()
        let all = DispatchGroup()
        let findings = round.findings
        for number in 0..<3 {
            counts.add(.async)
            all.enter()
            value.async(performIn: round.elsewhere).highestPriority.set {
                $0 += 1
            } completion: { result in
                let isRight = number < 2 ? result == .success(number + 1) : result == .failure(.commandQueueFull)
                findings.require(isRight, "command \(number) of a value for two answered \(result)")
                all.leave()
            }
        }
        value.resume()
        findings.require(all.wait(timeout: .now() + 300) == .success, "a value for two did not answer")
    }
}
