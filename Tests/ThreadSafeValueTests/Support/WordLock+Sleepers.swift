//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

extension WordLock {
    /// The number of threads that sleep until the lock is unlocked.
    var sleepingThreadCount: Int { withLine { $0.threads.count } }
}
