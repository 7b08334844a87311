//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// `dump`, `print` and debuggers show a copy of the value. They never read the value itself, which may be in use.

extension QueueSafeContainer {
    /// A description of a copy of the value; it never waits. While a command uses the value, or the value is suspended, it
    /// is `QueueSafeValue(in use)`.
    ///
    /// If the value leads to one handle several times, or back to this handle, the description shows the value once, and
    /// `QueueSafeValue(…)` after that.
    public var debugDescription: String {
        HandleDescription.text(String("\(Self.self)".prefix { $0 != "<" }), of: queue.storage) {
            copyIfFree().map { String(reflecting: $0) } ?? "in use"
        }
    }

    /// A mirror of a copy of the value, or of the words `in use`; it never waits.
    ///
    /// If the value leads back to the handle, the mirror has no end, and `dump` follows it until the stack overflows.
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
    /// A mirror of the command's state, and not of the command, which belongs to its queue.
    public var customMirror: Mirror { Mirror(self, children: ["state": state], displayStyle: .struct) }
}
