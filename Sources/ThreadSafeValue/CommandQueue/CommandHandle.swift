//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// A handle for a command that was submitted to a target queue: to cancel it, or to see whether it has begun.
///
/// Keep it or not: the command runs all the same. It does not keep the value alive, and keeps nothing of the command
/// once that is over.
public struct CommandHandle: Sendable {
    /// Where a command is in its life.
    public enum State: Sendable {
        /// The command was accepted and waits for its turn.
        case waiting
        /// The command got its turn: its closure is about to be called, runs, or has ended.
        case started
        /// The command was cancelled before its turn came.
        case cancelled
        /// The command was not accepted, or its suspended value went away; its completion got the reason.
        case refused
    }

    private let accepted: Accepted?

    struct Accepted: Sendable {
        let command: PendingCommand
        let reference: QueueReference
    }

    init(_ accepted: Accepted) {
        self.accepted = accepted
    }

    private init() {
        accepted = nil
    }
}

extension CommandHandle {
    /// The handle of a command that was not accepted.
    @usableFromInline
    static var refused: CommandHandle { CommandHandle() }

    /// Where the command is in its life now.
    public var state: State {
        guard let accepted else { return .refused }
        return switch accepted.reference.state(of: accepted.command) {
        case .waiting: .waiting
        case .started: .started
        case .cancelled: .cancelled
        case .refused: .refused
        }
    }

    /// Takes the command out, unless it has started.
    ///
    /// Its closure is never called then, and its completion gets ``QueueSafeValueError/cancelled`` on the target
    /// queue. What the closure captured goes away on the calling thread, before this returns. That of a `get` is called
    /// with the failure on the target queue instead, and goes away then.
    ///
    /// - Returns: `true` if this call cancelled the command; `false` if it had started or was cancelled or refused
    ///   before.
    /// - Complexity: O(log number of target queues that have commands).
    @discardableResult
    public func cancel() -> Bool {
        end(.cancelled, atOnce: false)
    }

    /// Takes the command out, unless it has started, and tells its caller why.
    ///
    /// - Parameters:
    ///   - error: What the caller gets.
    ///   - atOnce: Whether the calling thread tells that, and not the target queue.
    /// - Returns: Whether this has ended it.
    @discardableResult
    func end(_ error: QueueSafeValueError, atOnce: Bool) -> Bool {
        guard let accepted, let target = accepted.reference.withTurns({ $0.cancel(accepted.command) }) ?? nil else {
            return false
        }
        if let tell = accepted.command.refusal(error) {
            if atOnce { tell() } else { target.tell([tell]) }
        }
        accepted.command.dropWork()
        return true
    }
}
