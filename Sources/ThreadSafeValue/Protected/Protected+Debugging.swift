//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected: CustomDebugStringConvertible, CustomReflectable {
    /// A description of a copy of the value, or `Protected(locked)` while somebody accesses the value; it never waits.
    ///
    /// If the value leads to one handle several times, or back to this handle, the description shows the value once, and
    /// `Protected(…)` after that.
    public var debugDescription: String {
        HandleDescription.text("Protected", of: storage) { copyIfFree().map { String(reflecting: $0) } ?? "locked" }
    }

    /// A mirror of a copy of the value for `dump` and debuggers, or of the word `locked` while somebody accesses the
    /// value; it never waits.
    ///
    /// If the value leads back to the handle, the mirror has no end, and `dump` follows it until the stack overflows.
    public var customMirror: Mirror {
        let value: Any = copyIfFree() ?? "locked"  // fault: reflection reads unlocked
        return Mirror(self, children: ["value": value], displayStyle: .struct)  // fault: reflection shows the storage
    }

    /// A copy of the value; `nil` if the value is locked, even by the calling thread.
    private func copyIfFree() -> Value? { tryRead { $0 } }
}
