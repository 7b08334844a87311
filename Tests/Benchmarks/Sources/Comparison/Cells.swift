//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Workloads

/// What a contest in one setting gave.
struct Cells {
    let contestants: [Contestant]
    /// Nanoseconds of each contestant, round by round.
    var times: [[Double]]
    /// Nanoseconds that all threads of the process had a processor for an operation.
    var processorTimes: [[Double]]
    /// Of all contestants, and how many of them something else disturbed.
    var rounds = 0
    var disturbedRounds = 0

    init(contestants: [Contestant]) {
        self.contestants = contestants
        times = contestants.map { _ in [] }
        processorTimes = times
    }

    /// What is compared.
    enum Measure {
        case time
        case processorTime
    }

    /// Whether a contestant of this name took part.
    func have(_ name: String) -> Bool {
        contestants.contains { $0.name == name }
    }

    /// How the times of a contestant and of the best of others compare, round by round.
    func ratio(of name: String, toBestOf peers: [String], _ measure: Measure = .time) -> Ratio {
        Ratio(zip(times(of: name, measure), bestTimes(of: peers, measure)).map { $0 / $1 })
    }

    func times(of name: String, _ measure: Measure = .time) -> [Double] {
        let index = contestants.firstIndex { $0.name == name }!
        return switch measure {
        case .time: times[index]
        case .processorTime: processorTimes[index]
        }
    }

    /// The time of whichever of several contestants is the fastest, in each round anew.
    func bestTimes(of names: [String], _ measure: Measure = .time) -> [Double] {
        let all = names.map { times(of: $0, measure) }
        return all[0].indices.map { round in all.map { $0[round] }.min()! }
    }
}

/// The median of the ratios of all rounds, and where the middle half of them lies.
struct Ratio {
    let median: Double
    let low: Double
    let high: Double

    init(_ ratios: [Double]) {
        median = ratios.median
        low = ratios.quantile(0.25)
        high = ratios.quantile(0.75)
    }
}

extension [Double] {
    var median: Double { quantile(0.5) }

    func quantile(_ part: Double) -> Double {
        let sorted = sorted()
        let place = part * Double(count - 1)
        let below = sorted[Int(place)]
        let above = sorted[Swift.min(Int(place) + 1, count - 1)]
        return below + (above - below) * (place - place.rounded(.down))
    }
}
