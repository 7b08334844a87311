//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// One operation of a history: what was asked, what was answered, and when.
struct Operation: Sendable {
    enum Kind: Sendable {
        case command(Effect)
        case suspend
        case resume
    }

    /// What came back.
    enum Answer: Sendable, Equatable {
        /// The command took place and left this number.
        case number(Int)
        /// The command took place; the answer does not tell the number.
        case done
        /// The command did not take place: its time was over, or it was cancelled.
        case nothing
        /// There was nothing to resume.
        case notSuspended
        /// Anything that no operation may answer.
        case wrong(String)
    }

    let kind: Kind
    let answer: Answer

    /// The number that the command's closure found, if it has one that says so.
    let seen: Int?

    /// When it was asked and answered, on one clock for all threads. In between, at one moment, it took place.
    let call: UInt64
    let end: UInt64
}

/// What a command does to the number.
enum Effect: Sendable {
    case read
    case replace(Int)
    /// Depends on the number and on the order of all changes before.
    case mix(Int)

    func callAsFunction(_ number: Int) -> Int {
        switch self {
        case .read: number
        case .replace(let new): new
        case .mix(let salt): number &* 31 &+ salt
        }
    }
}

/// The number that all operations of a history share, used by one thread alone: what a history is compared with.
struct PlainNumber: Hashable, Sendable {
    private(set) var number = 0
    private(set) var suspensions = 0

    /// Carries out an operation.
    ///
    /// - Returns: whether this state allows it the answer that it got.
    mutating func allows(_ operation: Operation) -> Bool {
        switch operation.kind {
        case .suspend:
            suspensions += 1
            return operation.answer == .done
        case .resume:
            if suspensions == 0 { return operation.answer == .notSuspended }
            suspensions -= 1
            return operation.answer == .done
        case .command(let effect):
            if operation.answer == .nothing { return operation.seen == nil }
            guard suspensions == 0, operation.seen == nil || operation.seen == number else { return false }
            number = effect(number)
            return operation.answer == .done || operation.answer == .number(number)
        }
    }
}
