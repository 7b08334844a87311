//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import ThreadSafeValue

/// Some values that live for a moment, and what they are to add up to.
///
/// `@unchecked Sendable`: all that changes is guarded by `lock`.
final class Round: @unchecked Sendable {
    static let valueCount = 3

    let findings: Findings
    let end: Date
    let books: [Book]
    let tickets = Alive()
    let values = Alive()
    let queues = [
        DispatchQueue(label: "serial"), DispatchQueue(label: "other"),
        DispatchQueue(label: "concurrent", attributes: .concurrent), DispatchQueue.global(qos: .utility),
    ]
    let elsewhere = DispatchQueue(label: "elsewhere", attributes: .concurrent)

    /// Left by each command that was answered.
    private let group = DispatchGroup()
    private let lock = NSLock()
    private var expected = Array(repeating: 0, count: valueCount)
    private var open = 0

    init(_ findings: Findings, seconds: Double) {
        self.findings = findings
        end = Date(timeIntervalSinceNow: seconds)
        books = (0..<Self.valueCount).map { _ in Book(findings) }
    }
}

extension Round {
    var isOver: Bool { Date() >= end }

    func begins() {
        tickets.add(1)
        group.enter()
        lock.withLock { open += 1 }
    }

    func ends(_ value: Int, adding amount: Int) {
        lock.withLock {
            expected[value] += amount
            open -= 1
        }
        group.leave()
    }

    func makeValues() -> [QueueSafeValue<Account>] {
        books.map { QueueSafeValue(value: Account(book: $0, life: values.newLife())) }
    }

    /// Submits commands to a value that nobody else has, and lets go of it at once.
    func release(_ value: consuming QueueSafeValue<Account>, _ index: Int, _ counts: inout Counts) {
        let commands = (copy value).async(performIn: queues[index]).mediumPriority
        for _ in 0..<100 {
            counts.add(.async)
            let ticket = Ticket(1, of: self, value: index)
            commands.set(
                accessClosure: { account in
                    ticket.enter(&account)
                    ticket.leave()
                },
                completion: ticket.answer
            )
        }
        if value.pendingCommandCount() > 0 { counts.add(.released) }
    }

    /// Waits while so many commands are on their way that memory would be the limit.
    func waitForRoom() {
        while lock.withLock({ open > 4_000 }) { usleep(100) }
    }

    /// The workers have ended and the values were let go: all must come to its end.
    func finish() {
        guard group.wait(timeout: .now() + 300) == .success else {
            findings.violation("\(lock.withLock { open }) commands were not answered within 60 s")
            return
        }
        lock.withLock {
            for (index, book) in books.enumerated() {
                findings.require(book.sum == expected[index], "the sum is \(book.sum), answers say \(expected[index])")
            }
        }
        // The last closures are let go after their answers.
        let patience = Date(timeIntervalSinceNow: 30)
        while !(tickets.isNone && values.isNone), Date() < patience { usleep(1_000) }
        findings.require(tickets.isNone, "\(tickets.number) commands were not let go")
        findings.require(values.isNone, "\(values.number) values were not let go")
    }
}
