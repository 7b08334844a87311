//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

package import Dispatch
package import ThreadSafeValue

/// An answer that comes once, and the handlers that wait for it in line.
///
/// The first command takes the turn and keeps it: so all handlers, which are commands too, wait. When the answer comes it is
/// set by a command of highest priority, which overtakes them, and the turn is given free. From then on handlers run
/// in the order in which they came, one at a time; one that comes late finds the line empty and runs at once.
///
/// If the line goes away unanswered, the turn is free as well, and the handlers are called without an answer.
package final class AnswerLine<Answer: Sendable>: Sendable {
    /// Called with the answer, on the queue of the line; the next handler's turn comes when it calls `done`.
    package typealias Handler = @Sendable (_ answer: Answer?, _ done: @escaping CommandCompletionClosure) -> Void

    private enum Turn {
        case notTakenYet
        case kept(CommandCompletionClosure)
        case free
    }

    private let answer = QueueSafeValue<Answer?>(value: nil)
    private let turn = Protected(Turn.notTakenYet)
    private let queue: DispatchQueue

    package init(on queue: DispatchQueue) {
        self.queue = queue
        answer.async(performIn: queue).highestPriority.get { [turn] _, done in
            // The answer may have come before this.
            let isFree = turn.write { turn in
                if case .free = turn { return true }
                turn = .kept(done)
                return false
            }
            if isFree { done() }
        }
    }
}

extension AnswerLine {
    /// Gives the answer. To be called once.
    package func fulfil(_ answer: Answer) {
        self.answer.async(performIn: queue).highestPriority.set(newValue: answer)
        let done = turn.write { turn -> CommandCompletionClosure? in
            defer { turn = .free }
            if case .kept(let done) = turn { return done }
            return nil
        }
        done?()
    }

    /// Adds a handler to the line.
    package func wait(_ handler: @escaping Handler) {
        answer.async(performIn: queue).lowestPriority.get { answer, done in
            handler((try? answer.get()) ?? nil, done)
        }
    }
}
