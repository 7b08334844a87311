//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

/// Whether `PlatformLock` is a lock of the system. Such a lock hides its holder and its waiters: nobody notices threads
/// that wait for each other, and a thread that often takes it may starve the others.
let isLockOfSystem = ObjectIdentifier(PlatformLock.self) != ObjectIdentifier(WordLock.self)
