//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Array {
    /// Takes all elements out.
    @usableFromInline mutating func drain() -> [Element] {
        defer { self = [] }
        return self
    }
}
