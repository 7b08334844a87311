//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Why a command of a queue-safe value has no result.
public enum QueueSafeValueError: Error, Sendable {
    /// The value was suspended and nobody held it any more, so nobody could resume it; the command's closure never runs.
    case valueContainerDeinited

    /// The closure that the command was to run is `nil`.
    case commandClosureDeallocated

    /// The closure of the command threw `error`. Changes that it had made to the value stay.
    case unexpected(error: any Error)

    /// The command waits for a value from inside a command of that value: it would wait for itself forever.
    case reentrantCommand

    /// Threads that use several values wait for each other in a circle, and this command would have closed it.
    case circularWait

    /// The last copy of the `done` closure of a manual command went away before it was called.
    case completionDropped

    /// The command did not get its turn in the time that it was given; its closure never runs.
    case timedOut

    /// The command was cancelled before it started; its closure never runs.
    case cancelled

    /// The value holds as many waiting commands of target queues as it was created for.
    case commandQueueFull

    /// The value is not suspended, so there is nothing to resume.
    case notSuspended
}

extension QueueSafeValueError: Equatable {
    /// Two errors are equal if their cases are; two `unexpected` ones if their errors have one type and one description.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.valueContainerDeinited, .valueContainerDeinited),
            (.commandClosureDeallocated, .commandClosureDeallocated),
            (.reentrantCommand, .reentrantCommand),
            (.circularWait, .circularWait),
            (.completionDropped, .completionDropped),
            (.timedOut, .timedOut),
            (.cancelled, .cancelled),
            (.commandQueueFull, .commandQueueFull),
            (.notSuspended, .notSuspended):
            true
        case (.unexpected(let left), .unexpected(let right)):
            type(of: left) == type(of: right) && String(reflecting: left) == String(reflecting: right)
        default:
            false
        }
    }
}

extension QueueSafeValueError: CustomStringConvertible {
    /// A sentence for a person.
    public var description: String {
        switch self {
        case .valueContainerDeinited:
            "The value was suspended and is gone: nobody held it any more who could resume it."
        case .commandClosureDeallocated:
            "The command has no closure to run: it is nil."
        case .unexpected(let error):
            "The closure of the command threw an error: \(error)"
        case .reentrantCommand:
            "The command waits for a value inside a command of the same value: it would wait for itself forever."
        case .circularWait:
            "The command would wait forever: threads that use several values wait for each other in a circle."
        case .completionDropped:
            "The command was never completed: its done closure went away without being called."
        case .timedOut:
            "The command did not get its turn in the time that it was given."
        case .cancelled:
            "The command was cancelled before it started."
        case .commandQueueFull:
            "The command was not accepted: as many commands as the value was created for wait already."
        case .notSuspended:
            "The value is not suspended: each resume needs a suspend before it."
        }
    }
}
