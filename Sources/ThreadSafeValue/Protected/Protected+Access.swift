//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// What each access begins and ends with. The handle keeps the storage until that is done with the lock. Without
// `scope`, whose closures a debug build does not inline.

extension Protected {
    /// Where the storage is. Keep the handle while you use it.
    @inlinable
    @_transparent
    var address: BufferAddress<Value, ProtectedLock> {
        unsafe BufferAddress(unsafeBitCast(self, to: UnsafeMutableRawPointer.self))
    }

    /// Where the value is: to be used only while the lock is held.
    @inlinable
    @_transparent
    var place: UnsafeMutablePointer<Value> { unsafe address.header }

    @inlinable
    @_transparent
    func lock() {
        if !tryLock() { storage.lockSlowly() }
    }

    @inlinable
    @_transparent
    func tryLock() -> Bool {
        let isLocked = unsafe ProtectedLock.tryLock(address.elements)
        _fixLifetime(self)
        return isLocked
    }

    /// Whether a thread or task waits for a change; only with the lock.
    @inlinable
    @_transparent
    package var hasWaiters: Bool {
        let hasWaiters = unsafe ProtectedLock.hasWaiters(address.elements)
        _fixLifetime(self)
        return hasWaiters
    }

    /// Gives the lock back after an access that cannot have changed the value.
    @inlinable
    @_transparent
    func unlock() {
        unsafe ProtectedLock.unlock(address.elements)
        _fixLifetime(self)
    }

    /// Gives the lock back after an access that may have changed the value: every such access ends here.
    @inlinable
    @_transparent
    func commit() {
        if hasWaiters { storage.commitNotifying() } else { unlock() }
    }

    /// Calls a closure that may change the value, and gives the lock back: to be used only while the lock is held.
    ///
    /// What it returns goes away after that, as with `scope`.
    @inlinable
    @_transparent
    func writeAndUnlock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result: Result
        do throws(Failure) {
            result = try unsafe body(&place.pointee)
        } catch {
            commit()
            throw error
        }
        commit()
        _fixLifetime(result)
        return result
    }

    /// Calls a closure with the value, and gives the lock back: to be used only while the lock is held.
    ///
    /// What it returns goes away after that, as with `scope`.
    @inlinable
    @_transparent
    func readAndUnlock<Result: ~Copyable, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result: Result
        do throws(Failure) {
            result = try borrow(body)
        } catch {
            unlock()
            throw error
        }
        unlock()
        _fixLifetime(result)
        return result
    }

    /// Calls a closure with the value, without a copy: to be used only while the lock is held.
    ///
    /// Moved out and in again, the value is not counted up and down, as it is when the compiler cannot prove that the
    /// closure leaves its place alone: a look into a dictionary took 1.2 times as long. A large value is left where it
    /// is, as moving it takes longer than that.
    @inlinable
    func borrow<Result: ~Copyable, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if MemoryLayout<Value>.size > 64 { return try unsafe body(place.pointee) }
        let value = unsafe place.move()
        defer { unsafe place.initialize(to: value) }
        return try body(value)
    }
}
