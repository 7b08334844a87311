//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// The value that is hammered: a sum, and a book that holds the same sum and notes who runs.
struct Account: Sendable {
    var sum = 0
    let book: Book
    /// Goes when the value does.
    let life: Life
}

/// What one value went through.
///
/// `@unchecked Sendable`: nothing guards it but the turn of the value that it belongs to. It is read when all is over.
final class Book: @unchecked Sendable {
    private(set) var sum = 0
    private var isInUse = false
    private var last: [Stream: Int] = [:]
    private let findings: Findings

    init(_ findings: Findings) {
        self.findings = findings
    }
}

/// Commands of one worker for one place with one priority, which keep their order.
struct Stream: Hashable, Sendable {
    let worker: Int
    let queue: Int
    let priority: UInt64
}

extension Book {
    /// A command begins to use the value.
    func enter(_ account: inout Account, _ ticket: Ticket) {
        findings.require(!isInUse, "two commands have the value at once")
        isInUse = true
        findings.require(account.sum == sum, "the sum is \(account.sum) and should be \(sum)")
        if let stream = ticket.stream {
            findings.require(last[stream, default: -1] < ticket.number, "a command of \(stream) came after a later one")
            last[stream] = ticket.number
        }
        account.sum += ticket.amount
        sum += ticket.amount
    }

    /// The command that has the value is about to end.
    func leave() {
        findings.require(isInUse, "a command lost the value before it ended")
        isInUse = false
    }

    /// A command reads.
    func check(_ account: Account) {
        findings.require(!isInUse, "a command reads while another has the value")
        findings.require(account.sum == sum, "read \(account.sum), and not \(sum)")
    }
}

/// Counts instances, to see that none is left.
final class Alive: @unchecked Sendable {
    private let lock = NSLock()
    // Guarded by `lock`.
    private var count = 0

    func add(_ change: Int) {
        lock.withLock { count += change }
    }

    /// An instance that is counted for as long as it lives.
    func newLife() -> Life { Life(self) }

    var isNone: Bool { lock.withLock { count == 0 } }

    var number: Int { lock.withLock { count } }
}

/// An object that is counted.
final class Life: Sendable {
    private let alive: Alive

    fileprivate init(_ alive: Alive) {
        self.alive = alive
        alive.add(1)
    }

    deinit {
        alive.add(-1)
    }
}
