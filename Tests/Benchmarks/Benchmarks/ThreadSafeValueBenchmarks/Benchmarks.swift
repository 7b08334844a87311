//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Benchmark
import Workloads

/// The workloads of `Comparison` on one thread, for `swift package benchmark` and its baselines.
///
/// It holds no contests: those need threads on cores of their own, and contestants in turn.
let benchmarks: @Sendable () -> Void = {
    for contest in [Contest.changes, .reads, .lookups, .submissions] {
        for contestant in contest.contestants {
            let operations = contestant.batch ?? 10_000
            Benchmark(
                "\(contest.name): \(contestant.name)",
                configuration: .init(
                    metrics: [.wallClock, .throughput],
                    scalingFactor: .one,
                    maxDuration: .milliseconds(500)
                )
            ) { benchmark in
                let round = contestant.prepare(.alone)
                benchmark.startMeasurement()
                round.run(operations)
                benchmark.stopMeasurement()
            }
        }
    }
}
