//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// What happened, in order, noted by many threads.
final class Log<Entry: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    // Guarded by `lock`.
    private var list: [Entry] = []

    func add(_ entry: Entry) {
        lock.withLock { list.append(entry) }
    }

    // A copy that shares the buffer would be counted by the runtime, where the thread sanitizer does not look.
    var entries: [Entry] {
        lock.withLock { list.map { $0 } }
    }

    var count: Int { entries.count }

    /// Takes out the oldest entry.
    func takeFirst() -> Entry? {
        lock.withLock { list.isEmpty ? nil : list.removeFirst() }
    }
}
