//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A variable that nothing guards: whoever uses it must hold a lock.
final class Unguarded<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }
}
