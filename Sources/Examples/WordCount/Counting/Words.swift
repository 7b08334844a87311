//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// How often each word occurs.
typealias WordCounts = [String: Int]

extension WordCounts {
    /// Counts the words of a text: runs of letters and digits that are no numbers, in lower case.
    init(in text: String) {
        self.init()
        for word in text.lowercased().split(whereSeparator: { !$0.isLetter && !$0.isNumber })
        where word.contains(where: \.isLetter) {
            self[String(word), default: 0] += 1
        }
    }

    /// Adds other counts to these.
    mutating func add(_ others: WordCounts) {
        merge(others, uniquingKeysWith: +)
    }

    /// How many words there are, each as often as it occurs.
    var total: Int {
        values.reduce(0, +)
    }
}
