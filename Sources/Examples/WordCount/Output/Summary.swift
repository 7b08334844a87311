//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What was found, as text that ends with a table of the most frequent words.
struct Summary {
    let text: String
}

extension Summary {
    init(outcome: Outcome) {
        text = (Summary.sentences(on: outcome) + Summary.table(of: outcome)).joined(separator: "\n")
    }

    private static func sentences(on outcome: Outcome) -> [String] {
        let report = outcome.report
        let counted = report.files - report.skipped - report.problems.count
        var lines = ["\(report.words.of("word")), \(outcome.counts.count) different, in \(counted.of("file"))."]
        if let fullest = report.fullest { lines.append("Most in \(fullest.path.shown): \(fullest.words).") }
        if report.skipped > 0 { lines.append("Passed over, as not text: \(report.skipped.of("file")).") }
        return lines
    }

    /// The most frequent words; equally frequent ones in the order of the alphabet.
    private static func table(of outcome: Outcome, rows: Int = 12) -> [String] {
        guard !outcome.counts.isEmpty else { return [] }
        let top = outcome.counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(rows)
        let total = Double(max(1, outcome.report.words))
        return ["", row("", "Word", "Count", "Share", "Files")]
            + top.enumerated().map { index, entry in
                row(
                    "\(index + 1)",
                    entry.key,
                    "\(entry.value)",
                    "\((100 * Double(entry.value) / total).shown) %",
                    "\(outcome.report.spread[entry.key, default: 0])"
                )
            }
    }

    private static func row(_ rank: String, _ word: String, _ numbers: String...) -> String {
        "\(rank.aligned(to: 3))  \(word.padded(to: 28))" + numbers.map { $0.aligned(to: 10) }.joined()
    }
}
