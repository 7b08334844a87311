//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

extension Protected {
    /// Whether some thread holds the lock now.
    var isLocked: Bool {
        debugDescription == "Protected(locked)"
    }
}

extension Protected {
    /// Replaces the value, where an assignment would not fit.
    func write(_ newValue: Value) {
        wrappedValue = newValue
    }
}
