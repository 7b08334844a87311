//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Every access begins and ends with one of these methods.

extension Protected {
    /// Whether a thread or task waits for a change; for tests.
    package var hasWaiters: Bool { storage.hasWaiters }

    /// Calls a closure that may change the value, and gives the lock back, which the caller has taken.
    @inlinable @inline(__always) func writeAndUnlock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try scope { () throws(Failure) in
            try unsafe body(&storage.value.pointee)
        } end: {
            storage.commit()
        }
    }

    /// Calls a closure with the value, and gives the lock back, which the caller has taken.
    ///
    /// The value is moved out and in again, so that its references are not counted: otherwise a look into a dictionary took
    /// 1.2 times as long. A large value stays at its place, because moving it takes longer than that.
    @inlinable @inline(__always) func readAndUnlock<Result: ~Copyable, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try scope { () throws(Failure) in
            if MemoryLayout<Value>.size > 64 { return try unsafe body(storage.value.pointee) }
            let value = unsafe storage.value.move()
            defer { unsafe storage.value.initialize(to: value) }
            return try body(value)
        } end: {
            storage.unlock()
        }
    }
}
