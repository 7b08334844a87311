//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

/// The counts of all files, to which all threads add.
///
/// It can be held by `let` and is `Sendable`: a protected property changes behind its lock, not in the struct.
struct SharedCounts: Sendable {
    @Protected private var counts: WordCounts = [:]
}

extension SharedCounts {
    /// Adds the counts of one file, as one step.
    ///
    /// The file was counted without the lock; under it, its words are only added up. `counts.add(others)` would be one
    /// step as well. Not so `counts = sum(counts, others)`: what another thread adds between the reading and the
    /// writing would be lost.
    func add(_ others: WordCounts) {
        $counts.write { $0.add(others) }
    }

    /// A copy of the counts.
    var all: WordCounts {
        counts
    }
}
