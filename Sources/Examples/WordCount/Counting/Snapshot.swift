//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// How far the report was at a moment: little enough to be copied often.
struct Snapshot: Sendable {
    /// How many files had been entered.
    let files: Int

    /// What could not be counted until then.
    let problems: [Problem]
}

extension Snapshot {
    init(of report: Report) {
        files = report.files
        problems = report.problems
    }
}
