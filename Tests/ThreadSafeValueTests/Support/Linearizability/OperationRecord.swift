//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import ThreadSafeValue

/// What is noted of one operation while it runs.
///
/// `@unchecked Sendable`: nothing guards it but the command itself, whose closure comes after its call and before its
/// answer. A lock would order what the queue under test is to order. It is read when `history` was left for each
/// operation.
final class OperationRecord: @unchecked Sendable {
    let kind: Operation.Kind
    private let history: DispatchGroup
    private var call: UInt64 = 0
    private var end: UInt64 = 0
    private var seen: Int?
    private var answers: [Operation.Answer] = []

    /// Whether the command's handle said that it is cancelled. Written before the operation is left for the last time.
    private var wasCancelled: Bool?

    init(_ kind: Operation.Kind, of history: DispatchGroup) {
        self.kind = kind
        self.history = history
        history.enter()
    }
}

extension OperationRecord {
    func isCalled() {
        call = now()
    }

    /// The command's closure found this number.
    func sees(_ number: Int) {
        seen = number
    }

    /// The operation has its answer, or several at once: it may be read from the first call on.
    func isAnswered(_ answer: Operation.Answer, times: Int = 1) {
        end = now()
        let isFirst = isOpen
        for _ in 0..<times { answers.append(answer) }
        if isFirst { history.leave() }
    }

    /// The handle or task of the command was cancelled meanwhile; notes what the handle said.
    func isCancelled(_ answer: Bool) {
        wasCancelled = answer
    }

    var isOpen: Bool { answers.isEmpty }

    /// What became of the operation, once the history is over.
    var operation: Operation {
        var answer = answers.first ?? .wrong("no answer")
        if answers.count > 1 { answer = .wrong("\(answers.count) answers") }
        if let wasCancelled, wasCancelled != (answer == .nothing) {
            answer = .wrong("cancel() said \(wasCancelled), and the answer is \(answer)")
        }
        return Operation(kind: kind, answer: answer, seen: seen, call: call, end: end)
    }
}

extension OperationRecord {
    /// Notes the answer of a command, as far as its form allows it.
    func isAnswered(_ result: Result<Int, QueueSafeValueError>, to command: Command) {
        switch (result, command.form) {
        case (.failure(.timedOut), _) where command.hasTimeLimit: isAnswered(.nothing)
        case (.failure(.cancelled), _) where command.isCancelled: isAnswered(.nothing)
        case (.failure(.unexpected(error: is Refusal)), .changeAndThrow): isAnswered(.done)
        case (.failure(.completionDropped), .changeAndDrop): isAnswered(.done)
        case (_, .changeAndThrow), (_, .changeAndDrop): isAnswered(.wrong("\(result)"))
        case (.success(let number), _): isAnswered(.number(number))
        case (.failure, _): isAnswered(.wrong("\(result)"))
        }
    }
}

extension Command {
    var hasTimeLimit: Bool {
        if case .waitUpTo = place { true } else { false }
    }
}
