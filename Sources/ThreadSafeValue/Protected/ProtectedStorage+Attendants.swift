//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// What stands beside an access: all of it is out of the way of one that nobody waits for.

extension ProtectedStorage {
    /// Gives the lock back, and tells those who wait.
    ///
    /// Under the lock it is found out who has to know, so that everybody hears of every change, in their order. They are
    /// told after it.
    @usableFromInline
    @inline(never)
    func unlockAttended(afterChange isChange: Bool) {
        unlockToTell(afterChange: isChange)()
    }

    /// Gives the lock back.
    ///
    /// - Returns: what tells those who wait, to be called when the caller has given all its locks back, and while it keeps this.
    private func unlockToTell(afterChange isChange: Bool) -> () -> Void {
        // Somebody has set the word, so there are attendants.
        let attendants = attendants
        let news = isChange ? unsafe attendants.note(value.pointee) : nil
        unlockUnattended()
        return {
            attendants.tellLockIsFree()
            news?.deliver()
        }
    }

    /// Gives the lock back after an access that may have changed the value, one of several that the caller holds.
    ///
    /// - Returns: what tells those who wait, to be called when the caller has given all its locks back, and while it keeps this.
    @usableFromInline
    @inline(never)
    func commitToTell() -> () -> Void {
        if isAttended { return unlockToTell(afterChange: true) }
        unlockUnattended()
        return {}
    }

    /// Those who wait. Made when somebody waits for the first time.
    var attendants: Attendants<Value> {
        let (word, attention) = unsafe withUnsafeMutablePointerToElements { lock in
            unsafe (AttendedLock.attendants(lock), AttendedLock.attention(lock))
        }
        return word.object { Attendants<Value>(attention: attention) }
    }

    /// Ends the attendants with the value: nobody else can reach either any more.
    @usableFromInline
    @inline(never)
    func dismissAttendants() {
        let attendants: Attendants<Value> = unsafe withUnsafeMutablePointerToElements { lock in
            unsafe AttendedLock.attendants(lock).takeObject()
        }
        attendants.dismiss()
    }
}

// For tests.
extension Protected {
    /// Whether unlocking has somebody to tell.
    package var isAttended: Bool {
        storage.isAttended
    }

    /// An access that has looked for somebody to tell before its closure.
    package func accessUnseeing<Result>(_ body: () -> Result) -> Result {
        storage.lock()
        defer { storage.unlockUnattended() }
        return body()
    }
}
