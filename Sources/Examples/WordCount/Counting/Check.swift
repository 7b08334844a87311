//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The same count on one thread, compared with that of several.
struct Check {
    /// Whether both counts agree in every word, and the report with them.
    let hasPassed: Bool

    /// The result, as a sentence.
    let verdict: String
}

extension Check {
    /// Counts the files again on the calling thread, and shows how far it is.
    init(of outcome: Outcome, files: [FoundFile], _ console: Console) throws {
        let start = DispatchTime.now()
        var bar = ProgressBar(title: "Checking", total: files.count)
        var counts: WordCounts = [:]
        var spread: WordCounts = [:]
        for file in files {
            if case .words(let words) = Finding(in: file) {
                counts.add(words)
                spread.add(words.mapValues { _ in 1 })
            }
            bar.done += 1
            try console.show(bar)
        }
        try console.finish(bar)
        self.init(of: outcome, against: counts, spread, seconds: start.secondsUntilNow)
    }

    /// Compares what several threads found with the counts and the spread of words that one found.
    init(of outcome: Outcome, against counts: WordCounts, _ spread: WordCounts, seconds: Double) {
        hasPassed = counts == outcome.counts && counts.total == outcome.report.words && spread == outcome.report.spread
        let several = "\(outcome.threads) threads (\(outcome.seconds.shown) s)"
        let one = "one thread (\(seconds.shown) s)"
        verdict =
            hasPassed
            ? "Check passed: \(several) counted the same as \(one)."
            : """
            Check failed: \(several) counted \(outcome.counts.total) words and reported \(outcome.report.words), \
            \(one) counted \(counts.total). Either a file has changed meanwhile, or an update was lost.
            """
    }
}
