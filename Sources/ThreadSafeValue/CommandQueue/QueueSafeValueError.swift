//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Why a command of a queue-safe value has no result.
public enum QueueSafeValueError: Error, Sendable {
    /// The last handle of a suspended value went away, so nothing can resume it; the command's closure never runs.
    case valueContainerDeinited

    /// The command was given `nil` for its closure, so there was nothing to run.
    case commandClosureDeallocated

    /// The closure of the command threw `error`; what it had changed before stays changed.
    ///
    /// To catch an error of your own, look inside:
    ///
    /// ```swift
    /// switch page.wait.lowestPriority.set({ try $0.load() }) {
    /// case .failure(.unexpected(let error as NetworkDown)): retry(after: error)
    /// case .failure(let failure): print(failure)
    /// case .success: break
    /// }
    /// ```
    case unexpected(error: any Error)

    /// The command was called inside a command of the same value, and would have waited for itself forever.
    case reentrantCommand

    /// The command would have closed a circle of threads or tasks that wait for each other's values, or would have put
    /// a thread of a task to sleep while an async closure has the turn.
    case circularWait

    /// The last copy of the `done` closure went away uncalled, so the manual command was ended without it.
    case completionDropped

    /// The turn did not come in time, so the command never runs. As the answer of ``CommandHandle/wait(timeout:)``: only
    /// the wait ended, and the command runs later.
    case timedOut

    /// The command was cancelled before its turn came; its closure never runs.
    case cancelled

    /// The command was not accepted: as many commands of queues and of tasks as `pendingCommandLimit` allows were waiting.
    case commandQueueFull

    /// `resume()` was called more often than `suspend()`, and did nothing.
    case notSuspended
}

extension QueueSafeValueError: Equatable {
    /// Two errors are equal if their cases are; two `unexpected` ones if their errors have one type and one debug
    /// description.
    public static func == (left: Self, right: Self) -> Bool {
        if case (.unexpected(let left), .unexpected(let right)) = (left, right) {
            return type(of: left) == type(of: right) && String(reflecting: left) == String(reflecting: right)
        }
        // Each case is described in words of its own.
        return left.description == right.description
    }
}

extension QueueSafeValueError: CustomStringConvertible {
    /// Tells a person what has happened, and what to do if it is a mistake.
    public var description: String {
        switch self {
        case .valueContainerDeinited: "The value was suspended and is gone: no handle was left that could resume it."
        case .commandClosureDeallocated: "The command has no closure to run: it is nil."
        case .unexpected(let error): "The closure of the command threw an error: \(error)"
        case .reentrantCommand:
            "The command is inside a command of the same value, and would wait for itself. Use the closure's value."
        case .circularWait:
            "The command would wait forever. Take several values in one order, or with withLocked. In a task, await value.async."
        case .completionDropped:
            "The command was never completed: its done closure went away uncalled. Call it on each way out."
        case .timedOut: "The turn, or the end of the command, did not come in the time that was given."
        case .cancelled: "The command was cancelled before it started."
        case .commandQueueFull: "The command was not accepted: as many commands wait as pendingCommandLimit allows."
        case .notSuspended: "The value is not suspended: each resume needs a suspend before it."
        }
    }
}
