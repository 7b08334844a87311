//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import ThreadSafeValue

/// One command: what it adds, and what came of it. It complains when it goes away without an answer, or gets two.
///
/// `@unchecked Sendable`: all that changes is guarded by `lock`, but `book`, which is the running command's.
final class Ticket: @unchecked Sendable {
    let amount: Int
    let stream: Stream?
    let number: Int
    private let round: Round
    private let value: Int
    private let allowed: [QueueSafeValueError]
    private let lock = NSLock()
    private var runs = 0
    private var answers = 0
    private var book: Book?

    // `allowed` are the errors with which the command may end.
    init(
        _ amount: Int,
        of round: Round,
        value: Int,
        stream: Stream? = nil,
        number: Int = 0,
        allowed: [QueueSafeValueError] = []
    ) {
        self.amount = amount
        self.stream = stream
        self.number = number
        self.round = round
        self.value = value
        self.allowed = allowed
        round.begins()
    }

    deinit {
        round.findings.require(answers == 1, "a command had \(answers) answers")
        round.tickets.add(-1)
    }
}

extension Ticket {
    /// The command's closure begins.
    func enter(_ account: inout Account) {
        ran()
        book = account.book
        account.book.enter(&account, self)
    }

    /// The command's closure, or its `done`, is about to end it.
    func leave() {
        book?.leave()
        book = nil
    }

    /// The command ran.
    func ran() {
        lock.withLock { runs += 1 }
    }

    /// A command that reads has the value.
    func read(_ result: Result<Account, QueueSafeValueError>) {
        guard case .success(let account) = result else { return }
        ran()
        account.book.check(account)
    }

    func isAnswered<Success>(_ result: Result<Success, QueueSafeValueError>) {
        let runs = lock.withLock {
            answers += 1
            return self.runs
        }
        let tookPlace: Bool
        switch result {
        case .success: tookPlace = true
        case .failure(let error):
            round.findings.require(allowed.contains(error), "a command ended with: \(error)")
            switch error {
            case .unexpected, .completionDropped: tookPlace = true
            default: tookPlace = false
            }
        }
        round.findings.require(runs == (tookPlace ? 1 : 0), "a command ran \(runs) times and answered \(result)")
        round.ends(value, adding: tookPlace ? amount : 0)
    }

    /// What the command's completion or `get` got.
    var answer: @Sendable (Result<Account, QueueSafeValueError>) -> Void {
        { self.isAnswered($0) }
    }
}

/// What closures throw.
struct Refusal: Error {}
