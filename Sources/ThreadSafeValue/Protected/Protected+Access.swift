//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Every access begins and ends with one of these methods.

extension Protected {
    @inlinable @inline(__always)
    func lock() { storage.lock() }

    /// Gives the lock back after an access that cannot have changed the value.
    @inlinable @inline(__always)
    func unlock() { storage.unlock() }

    /// Gives the lock back after an access that may have changed the value. Every such access ends here.
    @inlinable @inline(__always)
    func commit() { storage.commit() }

    /// The address of the value, which is used only while the lock is held.
    @inlinable @inline(__always)
    var place: UnsafeMutablePointer<Value> { unsafe storage.value }

    /// Whether a thread or task waits for a change; for tests.
    package var hasWaiters: Bool { storage.hasWaiters }

    /// Calls a closure that may change the value, and gives the lock back, which the caller has taken.
    @inlinable @inline(__always)
    func writeAndUnlock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try scope { () throws(Failure) in
            try unsafe body(&place.pointee)
        } end: {
            commit()
        }
    }

    /// Calls a closure with the value, and gives the lock back, which the caller has taken.
    ///
    /// The value is moved out and in again, so that its references are not counted: otherwise a look into a dictionary took
    /// 1.2 times as long. A large value stays at its place, because moving it takes longer than that.
    @inlinable @inline(__always)
    func readAndUnlock<Result: ~Copyable, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try scope { () throws(Failure) in
            if MemoryLayout<Value>.size > 64 { return try unsafe body(place.pointee) }
            let value = unsafe place.move()
            defer { unsafe place.initialize(to: value) }
            return try body(value)
        } end: {
            unlock()
        }
    }
}
