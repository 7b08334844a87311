//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// The only place that chooses. The backends have the same member names, down to `Storage`.

#if canImport(Darwin) && !EverySchedule
/// The lock that suits the system best.
public typealias PlatformLock = UnfairLock
#else
/// The lock that suits the system best.
public typealias PlatformLock = WordLock
#endif

extension PlatformLock {
    /// Takes a lock that is held for moments only, so that no wait for it is part of a circle.
    func lockForMoment() {
        unsafe Storage.lockForMoment(cell.storage)
    }
}
