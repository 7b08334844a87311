//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Workloads

/// What a contest in one setting gave.
struct Cells {
    let contestants: [Contestant]
    /// Nanoseconds of each contestant, round by round.
    var times: [[Double]]
    /// Of all contestants, and how many of them something else disturbed.
    var rounds = 0
    var disturbedRounds = 0

    init(contestants: [Contestant]) {
        self.contestants = contestants
        times = contestants.map { _ in [] }
    }

    /// Whether a contestant of this name took part.
    func have(_ name: String) -> Bool {
        contestants.contains { $0.name == name }
    }

    func time(of name: String) -> Double {
        times(of: name).median
    }

    /// How the times of two contestants compare, round by round.
    func ratio(of name: String, to peer: String) -> Ratio {
        Ratio(zip(times(of: name), times(of: peer)).map { $0 / $1 })
    }

    private func times(of name: String) -> [Double] {
        times[contestants.firstIndex { $0.name == name }!]
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
