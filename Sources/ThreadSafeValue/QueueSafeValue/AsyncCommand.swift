//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// A handle for a command that was submitted to a target queue: to cancel it, or to see whether it has begun.
///
/// Keep it or not: the command runs all the same. A handle does not keep the value alive.
public struct AsyncCommand: Sendable {
    /// Where a command is in its life.
    public enum State: Sendable {
        /// It waits for its turn.
        case waiting
        /// Its closure was called, or is just about to be.
        case started
        /// It was cancelled before it started.
        case cancelled
        /// It was not accepted; its completion got the reason.
        case refused
    }

    @usableFromInline
    let accepted: Accepted?

    @usableFromInline
    struct Accepted: Sendable {
        let command: PendingCommand
        let line: Protected<WaitingLine>
    }

    @usableFromInline
    init(_ accepted: Accepted?) {
        self.accepted = accepted
    }
}

extension AsyncCommand {
    /// Where the command is in its life now.
    public var state: State {
        guard let accepted else { return .refused }
        return accepted.line.read { _ in
            switch accepted.command.currentState {
            case .waiting: .waiting
            case .started: .started
            case .cancelled: .cancelled
            }
        }
    }

    /// Takes the command out, unless it has started.
    ///
    /// Its closure is never called then, and its completion gets ``QueueSafeValueError/cancelled`` on the target queue; that of
    /// a `get` without one gets it in its closure. O(1).
    ///
    /// - Returns: `true` if this call cancelled the command; `false` if it had started or was cancelled or refused before.
    @discardableResult
    public func cancel() -> Bool {
        guard let accepted, let place = accepted.line.write({ $0.cancel(accepted.command) }) else { return false }
        place.queue?.settleLine()
        if case .readThen(let tell)? = unsafe accepted.command.takeWork()?(nil) {
            let tell = Told(tell: tell)
            place.target.async { tell.tell() }
        }
        return true
    }

    // A closure that AsyncCommands made of `Sendable` ones.
    private struct Told: @unchecked Sendable {
        let tell: () -> Void
    }
}
