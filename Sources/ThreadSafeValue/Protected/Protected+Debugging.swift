//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected: CustomDebugStringConvertible {
    /// A description of a copy of the value, or a word that it is locked; never waits.
    ///
    /// A handle that the value leads to more than once, or back to, is `Protected(…)` after the first time.
    public var debugDescription: String {
        HandleDescription.text("Protected", of: storage) {
            copyIfFree().map { String(reflecting: $0) } ?? "locked"
        }
    }
}

extension Protected: CustomReflectable {
    /// A mirror of a copy of the value, or of a word that it is locked, for `dump` and debuggers; never waits.
    ///
    /// A value that leads back to the handle has a mirror without end, which `dump` follows until the stack overflows.
    public var customMirror: Mirror {
        let value: Any = copyIfFree() ?? "locked"  // fault: reflection reads unlocked
        return Mirror(self, children: ["value": value], displayStyle: .struct)  // fault: reflection shows the storage
    }
}

extension Protected {
    /// A copy of the value, unless it is locked, be it by the calling thread.
    func copyIfFree() -> Value? {
        guard storage.tryLock() else { return nil }
        defer { unlock() }
        return unsafe place.pointee
    }
}
