//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A programming mistake that was answered with a failure, which the program may have ignored.
///
/// Debug builds write a line to standard error for each. To see where a mistake was made, set a breakpoint in a
/// handler, or print the call stack there. A dropped `done` is reported by the thread that waits for it, or by the one
/// that dropped it.
///
/// ```swift
/// CommandMistake.report { mistake in
///     print(mistake, Thread.callStackSymbols.joined(separator: "\n"))
/// }
/// ```
public struct CommandMistake: Sendable {
    // Not the file and line of the closure: each command would have two more parameters, and the closure of each that
    // waits for a target queue would keep them, 24 bytes more, in release too. The handler is called by the thread
    // that makes the mistake.

    /// The answer of the command: ``QueueSafeValueError/reentrantCommand``, ``QueueSafeValueError/circularWait``,
    /// ``QueueSafeValueError/completionDropped`` or ``QueueSafeValueError/notSuspended``.
    public let error: QueueSafeValueError

    /// The type of the value.
    public let valueType: any Any.Type

    /// The command, as far as it is known: its schedule and priority, as in `wait.lowestPriority`, or what it is
    /// in words: "a command with `done`".
    public let command: String
}

extension CommandMistake {
    /// Calls a closure for each mistake from now on, in release too, and writes no lines to standard error any more.
    ///
    /// - Parameter handler: Called on the thread that makes the mistake, or that waits for a dropped `done`, perhaps
    ///   inside a command; `nil` brings the default back. It should be quick, and use none of the values.
    public static func report(to handler: (@Sendable (CommandMistake) -> Void)?) {
        self.handler.write { $0 = handler ?? initialHandler }
    }

    fileprivate static let handler = Protected(initialHandler)

    private static var initialHandler: (@Sendable (CommandMistake) -> Void)? {
        #if DEBUG
        { writeToStandardError("\($0)") }
        #else
        nil
        #endif
    }
}

extension CommandMistake: CustomStringConvertible {
    /// The mistake in one line.
    public var description: String { "ThreadSafeValue: QueueSafeValue<\(valueType)>, \(command): \(error)" }
}

extension QueueSafeValueError {
    /// Reports the error if it is a programming mistake.
    ///
    /// - Returns: The error.
    @discardableResult
    func reported(for valueType: any Any.Type, _ command: @autoclosure () -> String) -> QueueSafeValueError {
        switch self {
        case .reentrantCommand, .circularWait, .completionDropped, .notSuspended:
            CommandMistake.handler.wrappedValue?(CommandMistake(error: self, valueType: valueType, command: command()))
        default: break
        }
        return self
    }
}
