//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// How far the report was at a moment: little enough to be copied often.
struct Snapshot: Sendable {
    /// How many files had been handed in before.
    let handedIn: Int

    /// How many of these were still in line: the snapshot has overtaken them.
    let overtaken: Int

    /// What could not be counted until then.
    let problems: [Problem]
}

extension Snapshot {
    init(of report: Report, handedIn: Int) {
        // Meanwhile, more may have been handed in and entered.
        self.handedIn = max(handedIn, report.files)
        overtaken = self.handedIn - report.files
        problems = report.problems
    }
}
