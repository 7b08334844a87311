//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// What reflection shows, for `dump`, `print` and debuggers: a copy of the value, never the value itself, which may be
// in use.

extension QueueSafeContainer {
    /// A mirror of a copy of the value, or of a word that it is in use, by a command or as it is suspended; never
    /// waits.
    public var customMirror: Mirror {
        let queue = queue
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

extension SubmittedCommand: CustomReflectable {
    /// A mirror of nothing: its parts are guarded by locks, and its answer may be on its way.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension CommandHandle: CustomReflectable {
    /// A mirror of the state. The command itself belongs to its queue.
    public var customMirror: Mirror { Mirror(self, children: ["state": state], displayStyle: .struct) }
}
