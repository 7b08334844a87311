//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The heap object behind ``Protected``: a value and the lock that guards it, in one allocation.
///
/// The value and the lock never move. Only the thread that holds the lock uses the value. The value stands first: with the
/// lock first, an access took 1 ns longer.
@safe @usableFromInline final class ProtectedStorage<Value>: ManagedBuffer<Value, ProtectedLock> {
    // The value is the header, which is released without help.
    @inlinable deinit {
        if tableWord.load() != 0 { endTable() }
        unsafe PlatformLock.Storage.deinitialize(lockPlace)
    }
}

/// The lock of a protected value, and the words that say who waits for a change.
@safe @usableFromInline struct ProtectedLock {
    @usableFromInline var lock: PlatformLock.Storage

    /// A set of `AwaitedChange` bits, which any thread changes atomically, and the holder of the lock reads.
    ///
    /// The set is empty unless a thread or task waits for a change, so an access pays nothing while none waits.
    @usableFromInline var awaited: AtomicWord.Storage

    /// The address of the `WaiterTable`, or zero. The first thread that needs the table sets it, once.
    @usableFromInline var table: AtomicWord.Storage
}

extension ProtectedStorage {
    @inlinable static func make(_ value: Value) -> ProtectedStorage {
        // `create` makes an object of the class on which it is called.
        let storage = unsafe unsafeDowncast(create(minimumCapacity: 1) { _ in value }, to: ProtectedStorage.self)
        unsafe PlatformLock.Storage.initialize(storage.lockPlace)
        unsafe storage.awaited.storage.initialize(to: AtomicWord.zero)
        unsafe storage.tableWord.storage.initialize(to: AtomicWord.zero)
        return storage
    }

    // These are addresses, because several threads must not have an access to one member at once. The caller keeps the
    // object while it uses them.

    /// The address of the value, which is used only while the lock is held.
    @inlinable @inline(__always) var value: UnsafeMutablePointer<Value> { unsafe headerPlace }

    @inlinable @inline(__always) var lockPlace: UnsafeMutablePointer<PlatformLock.Storage> {
        unsafe elementsPlace.pointer(to: \.lock).unsafelyUnwrapped
    }

    @inlinable @inline(__always)
    var awaited: AtomicWord { unsafe AtomicWord(elementsPlace.pointer(to: \.awaited).unsafelyUnwrapped) }

    @inlinable @inline(__always)
    var tableWord: AtomicWord { unsafe AtomicWord(elementsPlace.pointer(to: \.table).unsafelyUnwrapped) }

    // MARK: Accesses

    // Each of these methods keeps the object until it is done with the lock. So the object stays while a caller locks, uses
    // the value and unlocks. All are inlined, and none takes a closure. Otherwise each would be a call in generic code that
    // is not specialized, and an access took twice as long there.

    @inlinable @inline(__always) func lock() {
        unsafe schedulingPoint("access to", self, lockPlace)
        let hasLocked = unsafe PlatformLock.Storage.tryLock(lockPlace)
        _fixLifetime(self)
        if !hasLocked { lockSlowly() }
    }

    // The method stands here, because the type of the value is known here and need not be passed on.
    @usableFromInline @inline(never) func lockSlowly() {
        withExtendedLifetime(self) { unsafe PlatformLock.Storage.lock(lockPlace, for: Protected<Value>.self) }
    }

    /// Takes the lock, if it is to be had in time.
    @usableFromInline func lock(until deadline: Deadline) -> Bool {
        if deadline == .never {
            lock()
            return true
        }
        unsafe schedulingPoint("access with a time-out to", self, lockPlace)
        return withExtendedLifetime(self) {
            if unsafe PlatformLock.Storage.lock(lockPlace, for: Protected<Value>.self, until: deadline) { return true }
            if PlatformLock.Storage.hasLine || deadline == .passed { return false }
            return table.timedLine.wait(until: deadline.time) { tryLock() }
        }
    }

    @inlinable @inline(__always) func tryLock() -> Bool {
        unsafe schedulingPoint("try of", self, lockPlace, waits: false)
        defer { _fixLifetime(self) }
        return unsafe PlatformLock.Storage.tryLock(lockPlace)
    }

    /// Gives the lock back after an access that cannot have changed the value.
    @inlinable @inline(__always) func unlock() {
        defer { _fixLifetime(self) }
        unsafe PlatformLock.Storage.unlock(lockPlace)
        // After that: a thread that comes in between finds the lock free, or is seen.
        if !PlatformLock.Storage.hasLine, awaited.load() & AwaitedChange.lock != 0 { wakeTimed() }
    }

    /// Gives the lock back after an access that may have changed the value.
    @inlinable @inline(__always) func commit() {
        if hasWaiters { commitNotifying() } else { unlock() }
    }

    /// Whether a thread or task waits for a change. The caller holds the lock.
    @inlinable @inline(__always) var hasWaiters: Bool {
        defer { _fixLifetime(self) }
        return awaited.load() != 0
    }
}
