//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// What reflection shows, for `dump`, `print` and debuggers: a copy of the value, never the value itself, which may be in use.

extension QueueSafeValue: CustomReflectable {
    /// A mirror of a copy of the value, or of a word that a command has it; never waits.
    public var customMirror: Mirror { queue.mirror(of: self) }
}

extension QueueSafeSyncedValue: CustomReflectable {
    /// A mirror of a copy of the value, or of a word that a command has it; never waits.
    public var customMirror: Mirror { highestPriority.queue.mirror(of: self) }
}

extension QueueSafeAsyncedValue: CustomReflectable {
    /// A mirror of a copy of the value, or of a word that a command has it; never waits.
    public var customMirror: Mirror { schedule.queue.mirror(of: self) }
}

extension CommandHandle: CustomReflectable {
    /// A mirror of the state. The command itself belongs to its queue.
    public var customMirror: Mirror { Mirror(self, children: ["state": state], displayStyle: .struct) }
}

extension CommandQueue {
    /// A mirror of a handle.
    fileprivate func mirror<Handle>(of handle: Handle) -> Mirror {
        guard case .taken = tryToTakeTurn(.lowest, .none) else {
            return Mirror(handle, children: ["value": "in use"], displayStyle: .struct)
        }
        let copy = unsafe value.pointee
        giveTurnBack(of: TurnWord.currentThread, afterChange: false)
        return Mirror(handle, children: ["value": copy], displayStyle: .struct)
    }
}
