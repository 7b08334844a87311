//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import ThreadSafeValue

/// A plain queue of commands, made of a condition variable, that can be broken in several ways: it shows that the
/// checker finds each of them, and finds nothing where nothing is.
///
/// `@unchecked Sendable`: all that changes is guarded by `condition`.
final class StandIn: Subject, @unchecked Sendable {
    /// What is wrong with it, now and then.
    enum Fault: String, CaseIterable, Sendable {
        case losesUpdates, readsStale, completesEarly, runsAfterTimeOut, runsAfterCancel, ignoresSuspend, answersTwice
        case answersBeforeItRuns
    }

    private let fault: Fault?
    private let condition = NSCondition()
    private var number = 0
    private var numberBefore = 0
    private var isTaken = false
    private var suspensions = 0

    init(_ fault: Fault?) {
        self.fault = fault
    }

    func suspend() {
        condition.withLock { suspensions += 1 }
    }

    func resume() -> Bool {
        condition.withLock {
            if suspensions == 0 { return false }
            suspensions -= 1
            condition.broadcast()
            return true
        }
    }

    func carryOut(_ command: Command, _ record: OperationRecord) {
        switch command.place {
        case .wait, .awaited: run(command, record, until: nil)
        case .waitUpTo(let time): run(command, record, until: Date(timeIntervalSinceNow: Double(time) / 1e9))
        case .async(let queue):
            let ticket = Ticket()
            if isAnsweredBeforeItRuns(command) { record.isAnswered(.done) }
            Places.queues[queue].async { [self] in
                guard takeTurn(until: nil) else { return }
                guard ticket.begins() || fault == .runsAfterCancel else {
                    giveTurnBack()
                    return record.isAnswered(.nothing)
                }
                runWithTurn(command, record, isCancelled: ticket.isCancelled)
            }
            guard command.isCancelled else { return }
            work(nanoseconds: command.duration)
            record.isCancelled(ticket.cancel())
        }
    }

    private func run(_ command: Command, _ record: OperationRecord, until time: Date?) {
        guard takeTurn(until: time) else {
            if fault == .runsAfterTimeOut { condition.withLock { number = command.effect(number) } }
            return record.isAnswered(.nothing)
        }
        runWithTurn(command, record)
    }

    private func runWithTurn(_ command: Command, _ record: OperationRecord, isCancelled: Bool = false) {
        let isAnsweredBefore = isAnsweredBeforeItRuns(command)
        let before = condition.withLock { isStale(command) ? numberBefore : number }
        if command.isChange, !isCancelled, !isAnsweredBefore { record.sees(before) }
        let isEarly = givesTurnBackEarly(command)
        if isEarly { giveTurnBack() }
        work(nanoseconds: isEarly ? command.duration + 20_000 : command.duration)
        let after = condition.withLock {
            let after = command.effect(fault == .completesEarly ? number : before)
            if command.isChange {
                numberBefore = number
                number = after
            }
            return after
        }
        if !isEarly { giveTurnBack() }
        if isAnsweredBefore { return }
        let answer: Operation.Answer = isCancelled ? .nothing : command.isSilent ? .done : .number(after)
        record.isAnswered(answer, times: fault == .answersTwice && command.form == .changeManually ? 2 : 1)
    }

    private func isAnsweredBeforeItRuns(_ command: Command) -> Bool {
        guard case .async = command.place else { return false }
        return fault == .answersBeforeItRuns && command.form == .changeSilently && !command.isCancelled
    }

    private func isStale(_ command: Command) -> Bool {
        fault == .readsStale && command.salt % 4 == 0 && !command.isChange
    }

    private func givesTurnBackEarly(_ command: Command) -> Bool {
        switch fault {
        case .losesUpdates: command.form == .change
        case .completesEarly: command.form == .changeManually || command.form == .getManually
        default: false
        }
    }

    /// Takes the turn; without a time it waits for ever.
    private func takeTurn(until time: Date?) -> Bool {
        condition.withLock {
            while isTaken || (suspensions > 0 && fault != .ignoresSuspend) {
                guard let time else {
                    condition.wait()
                    continue
                }
                if !condition.wait(until: time) { return false }
            }
            isTaken = true
            return true
        }
    }

    private func giveTurnBack() {
        condition.withLock {
            isTaken = false
            condition.broadcast()
        }
    }
}

extension Command {
    fileprivate var isChange: Bool {
        if case .read = effect { false } else { true }
    }

    /// Whether the answer does not tell the number.
    fileprivate var isSilent: Bool {
        switch form {
        case .changeSilently, .changeAndThrow, .changeAndDrop: true
        default: false
        }
    }
}

/// Whether a command that was submitted has begun or was cancelled: one of the two.
private final class Ticket: @unchecked Sendable {
    private let lock = NSLock()
    // Guarded by `lock`.
    private var hasBegun = false
    private var isOver = false

    var isCancelled: Bool { lock.withLock { isOver } }

    func begins() -> Bool {
        lock.withLock {
            hasBegun = true
            return !isOver
        }
    }

    func cancel() -> Bool {
        lock.withLock {
            if hasBegun { return false }
            isOver = true
            return true
        }
    }
}
