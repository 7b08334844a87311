//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The heap object behind ``Protected``: the lock and the value that it guards, in one allocation.
///
/// Both stay at their place for the life of the object. Whoever holds the lock may touch the value. With the value
/// first an access took 1 ns less than with the lock first.
@safe
@usableFromInline
final class ProtectedStorage<Value>: ManagedBuffer<Value, ProtectedLock> {
    // The value is the header, which ends by itself.
    @inlinable
    deinit {
        unsafe withUnsafeMutablePointerToElements { lock in
            if unsafe ProtectedLock.table(lock).load() != 0 { endTable() }
            unsafe PlatformLock.Storage.deinitialize(ProtectedLock.lock(lock))
        }
    }
}

extension ProtectedStorage {
    @inlinable
    static func make(_ value: Value) -> ProtectedStorage {
        let buffer = create(minimumCapacity: 1) { _ in value }
        // `create` makes an object of the class that it is called on.
        let storage = unsafe unsafeDowncast(buffer, to: ProtectedStorage.self)
        unsafe storage.withUnsafeMutablePointerToElements { lock in
            unsafe ProtectedLock.initialize(lock)
        }
        return storage
    }

    // Each of these keeps the object alive until it is done with the lock. So a caller that locks, touches the value
    // and unlocks cannot lose the object in between.
    //
    // What each access calls is transparent: a debug build inlines it too, and knows the types then. Without, it asks
    // the runtime for their metadata, and `write` takes 1.7 times as long there.

    @inlinable
    @_transparent
    func lock() {
        if !tryLock() { lockSlowly() }
    }

    @inlinable
    @_transparent
    func tryLock() -> Bool {
        unsafe withUnsafeMutablePointerToElements { lock in
            unsafe PlatformLock.Storage.tryLock(ProtectedLock.lock(lock))
        }
    }

    // Here, because this is where the type is known without being passed on.
    @usableFromInline
    @inline(never)
    func lockSlowly() {
        unsafe withUnsafeMutablePointerToElements { lock in
            unsafe PlatformLock.Storage.lock(ProtectedLock.lock(lock), for: Protected<Value>.self)
        }
    }

    /// Takes the lock if that is possible in time.
    @usableFromInline
    func lock(until deadline: Deadline) -> Bool {
        if deadline == .never {
            lock()
            return true
        }
        return unsafe withUnsafeMutablePointerToElements { lock in
            unsafe PlatformLock.Storage.lock(ProtectedLock.lock(lock), for: Protected<Value>.self, until: deadline)
        }
    }

    /// Gives the lock back after an access that cannot have changed the value.
    @inlinable
    @_transparent
    func unlock() {
        unsafe withUnsafeMutablePointerToElements { lock in
            unsafe PlatformLock.Storage.unlock(ProtectedLock.lock(lock))
        }
    }

    /// Gives the lock back after an access that may have changed the value: every such access ends here.
    @inlinable
    @_transparent
    func commit() {
        // One look for both, as each costs a debug build a generic call.
        unsafe withUnsafeMutablePointerToElements { lock in
            if unsafe ProtectedLock.awaited(lock).load() != 0 { return commitNotifying() }
            unsafe PlatformLock.Storage.unlock(ProtectedLock.lock(lock))
        }
    }

    /// Whether a thread or task waits for a change; only with the lock.
    @inlinable
    var hasWaiters: Bool {
        unsafe withUnsafeMutablePointerToElements { lock in
            unsafe ProtectedLock.awaited(lock).load() != 0
        }
    }

    /// Where the value is: to be used only while the lock is held.
    @inlinable
    @_transparent
    var value: UnsafeMutablePointer<Value> {
        // A raw pointer, because a debug build looks up the metadata of what a generic closure returns.
        let value = unsafe withUnsafeMutablePointerToHeader { value in UnsafeMutableRawPointer(value) }
        return unsafe value.assumingMemoryBound(to: Value.self)
    }

    /// Calls a closure that may change the value, and gives the lock back: to be used only while the lock is held.
    @inlinable
    @_transparent
    func write<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try scope { () throws(Failure) in
            try unsafe body(&value.pointee)
        } end: {
            commit()
        }
    }

    /// Calls a closure with the value, and gives the lock back: to be used only while the lock is held.
    @inlinable
    @_transparent
    func read<Result: ~Copyable, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try scope { () throws(Failure) in
            try borrow(body)
        } end: {
            unlock()
        }
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
        if MemoryLayout<Value>.size > 64 { return try unsafe body(value.pointee) }
        let value = unsafe value.move()
        defer { unsafe self.value.initialize(to: value) }
        return try body(value)
    }
}
