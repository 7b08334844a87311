//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// An object that counts how many of its kind are alive. Each test has a tally of its own.
final class Counted: Sendable {
    final class Tally: @unchecked Sendable {
        private let lock = NSLock()
        // Guarded by `lock`.
        private var count = 0

        var alive: Int {
            lock.withLock { count }
        }

        fileprivate func add(_ change: Int) {
            lock.withLock { count += change }
        }
    }

    let id: Int
    private let tally: Tally

    init(_ id: Int = 0, tally: Tally) {
        self.id = id
        self.tally = tally
        tally.add(1)
    }

    deinit {
        tally.add(-1)
    }
}
