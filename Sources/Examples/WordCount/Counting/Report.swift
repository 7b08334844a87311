//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What is known of the files so far: a plain value, which knows nothing of threads.
struct Report: Sendable {
    /// How many files have been looked into.
    private(set) var files = 0

    /// How many of them are not text.
    private(set) var skipped = 0

    /// How many words the others have.
    private(set) var words = 0

    /// The file with the most words.
    private(set) var fullest: (path: String, words: Int)?

    /// In how many files each word occurs.
    private(set) var spread: WordCounts = [:]

    /// What could not be counted, in the order in which it was found.
    private(set) var problems: [Problem] = []
}

extension Report {
    /// One file's line in the report.
    enum Entry: Sendable {
        case counted(path: String, words: WordCounts)
        case skipped
        case problem(Problem)
    }

    /// Enters a file: much to do for a large one, and not urgent.
    mutating func add(_ entry: Entry) {
        files += 1
        switch entry {
        case .counted(let path, let counts):
            let total = counts.total
            words += total
            if total > fullest?.words ?? 0 { fullest = (path, total) }
            for word in counts.keys { spread[word, default: 0] += 1 }
        case .skipped:
            skipped += 1
        case .problem(let problem):
            problems.append(problem)
        }
    }
}
