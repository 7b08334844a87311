//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// This file alone chooses the backend. All backends have the same member names, down to `Storage`.

#if canImport(Darwin) && !EverySchedule
/// The lock that suits the operating system best.
public typealias PlatformLock = UnfairLock
#elseif SYSTEM_LOCK && !EverySchedule
/// A lock of the system, as on Apple systems, for the tests of what it takes.
public typealias PlatformLock = PthreadMutex
#else
/// The lock that suits the operating system best.
public typealias PlatformLock = WordLock
#endif

extension PlatformLock {
    /// Takes a lock that is held for moments only, so that no wait for it is part of a circle.
    @usableFromInline func lockForMoment() { unsafe Storage.lockForMoment(cell.storage) }

    /// Runs a closure that takes a moment, with the lock.
    func forMoment<Result>(_ body: () -> Result) -> Result {
        lockForMoment()
        defer { unlock() }
        return body()
    }
}
