//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// What reflection shows, for `dump`, `print` and debuggers: a copy of the value, never the value itself, which may be
// in use.

extension QueueSafeContainer {
    /// A description of a copy of the value, or a word that it is in use, by a command or as it is suspended; never
    /// waits.
    ///
    /// A handle that the value leads to more than once, or back to, is `QueueSafeValue(…)` after the first time.
    public var debugDescription: String {
        HandleDescription.text(String("\(Self.self)".prefix { $0 != "<" }), of: queue.storage) {
            copyIfFree().map { String(reflecting: $0) } ?? "in use"
        }
    }

    /// A mirror of a copy of the value, or of a word that it is in use; never waits.
    ///
    /// A value that leads back to the handle has a mirror without end, which `dump` follows until the stack overflows.
    public var customMirror: Mirror {
        let value: Any = copyIfFree() ?? "in use"
        return Mirror(self, children: ["value": value], displayStyle: .struct)
    }

    private func copyIfFree() -> Value? {
        let queue = queue
        guard queue.withTurns({ $0.tryToTakeTurnNow(.lowest, as: currentThreadIdentity()) }) else { return nil }
        defer { queue.giveTurnBack(of: currentThreadIdentity(), afterChange: false) }
        return unsafe queue.value.pointee
    }
}

extension QueueSafeValue: CustomReflectable, CustomDebugStringConvertible {}
extension QueueSafeSyncedValue: CustomReflectable, CustomDebugStringConvertible {}
extension QueueSafeAsyncedValue: CustomReflectable, CustomDebugStringConvertible {}

extension CommandHandle: CustomReflectable {
    /// A mirror of the state. The command itself belongs to its queue.
    public var customMirror: Mirror { Mirror(self, children: ["state": state], displayStyle: .struct) }
}
