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
