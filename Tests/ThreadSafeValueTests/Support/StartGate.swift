//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// A barrier: nobody passes until all have come.
final class StartGate: @unchecked Sendable {
    private let condition = NSCondition()
    // Guarded by `condition`.
    private var missing: Int

    init(count: Int) {
        missing = count
    }

    func pass() {
        condition.lock()
        defer { condition.unlock() }
        missing -= 1
        if missing == 0 { condition.broadcast() }
        while missing > 0 { condition.wait() }
    }
}

/// A door that stays open once somebody has opened it.
final class Door: @unchecked Sendable {
    private let condition = NSCondition()
    // Guarded by `condition`.
    private var isOpen = false

    func open() {
        condition.lock()
        defer { condition.unlock() }
        isOpen = true
        condition.broadcast()
    }

    func waitUntilOpen() {
        condition.lock()
        defer { condition.unlock() }
        while !isOpen { condition.wait() }
    }
}
