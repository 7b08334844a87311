//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// What reflection shows, for `dump`, `print` and debuggers: a copy of the value, never the value itself, which may be
// in use.

extension QueueSafeContainer {
    /// A mirror of a copy of the value, or of a word that a command has it; never waits.
    public var customMirror: Mirror {
        guard case .taken = queue.tryToTakeTurn(.lowest, .none) else {
            return Mirror(self, children: ["value": "in use"], displayStyle: .struct)
        }
        let copy = unsafe queue.value.pointee
        queue.giveTurnBack(of: TurnWord.currentThread, afterChange: false)
        return Mirror(self, children: ["value": copy], displayStyle: .struct)
    }
}

extension QueueSafeValue: CustomReflectable {}
extension QueueSafeSyncedValue: CustomReflectable {}
extension QueueSafeAsyncedValue: CustomReflectable {}

extension CommandHandle: CustomReflectable {
    /// A mirror of the state. The command itself belongs to its queue.
    public var customMirror: Mirror { Mirror(self, children: ["state": state], displayStyle: .struct) }
}
