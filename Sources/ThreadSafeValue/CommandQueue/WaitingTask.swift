//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// A task that stands in line for the turn of an async body.
///
/// It has a lane of its own, whose block is the task that goes on: so it loses its place while its executor is late, as
/// the commands of a target queue do, and no turn is held for it meanwhile.
final class WaitingTask: Sendable {
    /// What a task that goes on has to do.
    enum Step: Sendable {
        /// To look for the turn: its lane's block, with a number, was dispatched.
        case look(block: UInt64)
        /// To end: there is no turn for it.
        case end(QueueSafeValueError)
    }

    @safe
    private struct State: Sendable {
        /// Of the task, while that is suspended.
        var continuation: UnsafeContinuation<Step, Never>?
        /// For a task that is about to be suspended.
        var step: Step?
    }

    private let state = Protected(State())
}

extension WaitingTask {
    /// A number that no queue has, nor another task.
    var identity: UInt { unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    /// The task is about to be suspended.
    func suspend(_ continuation: UnsafeContinuation<Step, Never>) {
        let step = state.write { state in
            if state.step == nil { unsafe state.continuation = continuation }
            return state.step.take()
        }
        if let step { unsafe continuation.resume(returning: step) }
    }

    /// The lane's block is dispatched. Not on the calling thread: see `resumeOnGlobalQueue`.
    func goOn(block: UInt64) {
        awaitedTarget.async { self.resume(with: .look(block: block)) }
    }

    /// The task has left the line.
    func end(_ failure: QueueSafeValueError) {
        resume(with: .end(failure))
    }

    private func resume(with step: Step) {
        let continuation: UnsafeContinuation<Step, Never>? = unsafe state.write { state in
            if unsafe state.continuation == nil {
                // Who has left the line looks no more.
                if case .end = state.step { return nil }
                state.step = step
            }
            return unsafe state.continuation.take()
        }
        unsafe continuation?.resume(returning: step)
    }
}
