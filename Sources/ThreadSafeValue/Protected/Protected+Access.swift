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
        try scope({ () throws(Failure) in try unsafe body(&storage.value.pointee) }, end: { storage.commit() })
    }

    /// Calls a closure with the value, and gives the lock back, which the caller has taken.
    @inlinable @inline(__always) func readAndUnlock<Result: ~Copyable, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try scope({ () throws(Failure) in try unsafe borrowed(storage.value, body) }, end: { storage.unlock() })
    }
}

/// Calls a closure with a value in place. The value is not copied, even if its type is copyable.
@inlinable @inline(__always) func borrowed<Value: ~Copyable, Result: ~Copyable, Failure: Error>(
    _ value: UnsafeMutablePointer<Value>,
    _ body: (borrowing Value) throws(Failure) -> Result
) throws(Failure) -> Result {
    try unsafe body(value.pointee)
}
