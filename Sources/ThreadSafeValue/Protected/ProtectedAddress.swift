//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The address of a `ProtectedStorage`: all that an access needs, without counting a reference.
///
/// Whoever uses it keeps the storage until it is done.
///
/// All is transparent, and without closures of its own: a debug build inlines it too, and neither looks up types at run
/// time nor counts references. With methods of the storage and closures, `write` took three times as long there.
@safe
@usableFromInline
struct ProtectedAddress<Value> {
    @usableFromInline
    let object: UnsafeMutableRawPointer

    @inlinable
    @_transparent
    init(_ object: UnsafeMutableRawPointer) {
        unsafe self.object = object
    }
}

extension ProtectedAddress {
    /// Where the value is: to be used only while the lock is held.
    @inlinable
    @_transparent
    var value: UnsafeMutablePointer<Value> {
        unsafe (object + Self.valueOffset).assumingMemoryBound(to: Value.self)
    }

    @inlinable
    @_transparent
    var protectedLock: UnsafeMutablePointer<ProtectedLock> {
        unsafe (object + Self.lockOffset).assumingMemoryBound(to: ProtectedLock.self)
    }

    // As inlinable code of the standard library has it, in `ManagedBufferPointer`: first the two words of an object,
    // then the header, then the elements.

    @inlinable
    @_transparent
    static var valueOffset: Int {
        roundUp(2 &* MemoryLayout<Int>.size, MemoryLayout<Value>.alignment)
    }

    @inlinable
    @_transparent
    static var lockOffset: Int {
        roundUp(valueOffset &+ MemoryLayout<Value>.size, MemoryLayout<ProtectedLock>.alignment)
    }

    @inlinable
    @_transparent
    static func roundUp(_ offset: Int, _ alignment: Int) -> Int {
        (offset &+ alignment &- 1) & ~(alignment &- 1)
    }
}

extension ProtectedAddress {
    @inlinable
    @_transparent
    func tryLock() -> Bool {
        unsafe PlatformLock.Storage.tryLock(ProtectedLock.lock(protectedLock))
    }

    @inlinable
    @_transparent
    func unlock() {
        unsafe PlatformLock.Storage.unlock(ProtectedLock.lock(protectedLock))
    }

    /// Whether a thread or task waits for a change; only with the lock.
    @inlinable
    @_transparent
    var hasWaiters: Bool {
        unsafe ProtectedLock.awaited(protectedLock).load() != 0
    }
}

// What each access begins and ends with. The handle keeps the storage until that is done with the lock.
extension Protected {
    /// Without counting a reference, as each access begins with it. Keep the handle while you use it.
    @inlinable
    @_transparent
    var address: ProtectedAddress<Value> {
        unsafe ProtectedAddress(unsafeBitCast(self, to: UnsafeMutableRawPointer.self))
    }

    @inlinable
    @_transparent
    func lock() {
        if !address.tryLock() { storage.lockSlowly() }
    }

    /// Gives the lock back after an access that cannot have changed the value.
    @inlinable
    @_transparent
    func unlock() {
        address.unlock()
        _fixLifetime(self)
    }

    /// Gives the lock back after an access that may have changed the value: every such access ends here.
    @inlinable
    @_transparent
    func commit() {
        if address.hasWaiters { storage.commitNotifying() } else { address.unlock() }
        _fixLifetime(self)
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
            result = try unsafe body(&address.value.pointee)
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
            result = try address.borrow(body)
        } catch {
            unlock()
            throw error
        }
        unlock()
        _fixLifetime(result)
        return result
    }
}

extension ProtectedAddress {
    /// Calls a closure with the value, without a copy: to be used only while the lock is held.
    ///
    /// Moved out and in again, the value is not counted up and down, as it is when the compiler cannot prove that the
    /// closure leaves its place alone: a look into a dictionary took 1.2 times as long. A large value is left where it
    /// is, as moving it takes longer than that.
    @inlinable
    func borrow<Result: ~Copyable, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if MemoryLayout<Value>.size > 64 { return try unsafe body(value.pointee) }
        let value = unsafe value.move()
        defer { unsafe self.value.initialize(to: value) }
        return try body(value)
    }
}
