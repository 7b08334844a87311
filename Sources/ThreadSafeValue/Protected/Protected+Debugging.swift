//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected: CustomDebugStringConvertible {
    /// A description of a copy of the value, or a word that it is locked; never waits.
    @inlinable
    public var debugDescription: String {
        guard storage.tryLock() else { return "Protected(locked)" }
        let value = unsafe storage.value.pointee
        storage.unlock()
        return "Protected(\(String(reflecting: value)))"
    }
}
