//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The heap object behind ``Protected``: a value and the lock that guards it, in one allocation.
///
/// Both stay at their place for the life of the object. The thread that holds the lock may touch the value. With the
/// value first an access took 1 ns less than with the lock first.
@safe
@usableFromInline
final class ProtectedStorage<Value>: ManagedBuffer<Value, ProtectedLock> {
    // The value is the header, which ends by itself.
    @inlinable
    deinit {
        if tableWord.load() != 0 { endTable() }
        unsafe PlatformLock.Storage.deinitialize(lockPlace)
    }
}

/// The lock of a protected value, and what is needed to tell of changes.
@safe
@usableFromInline
struct ProtectedLock {
    @usableFromInline
    var lock: PlatformLock.Storage

    /// A set of `AwaitedChange` bits. Changed atomically by any thread, read by the one that holds the lock.
    ///
    /// It is zero unless a thread or task waits for a change, so that accesses pay nothing while none does.
    @usableFromInline
    var awaited: AtomicWord.Storage

    /// The address of the `WaiterTable`, or zero. Set once, by the first that needs it.
    @usableFromInline
    var table: AtomicWord.Storage
}

extension ProtectedStorage {
    @inlinable
    static func make(_ value: Value) -> ProtectedStorage {
        let buffer = create(minimumCapacity: 1) { _ in value }
        // `create` makes an object of the class that it is called on.
        let storage = unsafe unsafeDowncast(buffer, to: ProtectedStorage.self)
        unsafe PlatformLock.Storage.initialize(storage.lockPlace)
        unsafe storage.awaited.storage.initialize(to: AtomicWord.zero)
        unsafe storage.tableWord.storage.initialize(to: AtomicWord.zero)
        return storage
    }

    // Addresses: several threads must not access one member at once. Keep the object while you use them.

    /// Where the value is: to be used only while the lock is held.
    @inlinable @inline(__always)
    var value: UnsafeMutablePointer<Value> { unsafe headerPlace }

    @inlinable @inline(__always)
    var lockPlace: UnsafeMutablePointer<PlatformLock.Storage> {
        unsafe elementsPlace.pointer(to: \.lock).unsafelyUnwrapped
    }

    @inlinable @inline(__always)
    var awaited: AtomicWord { unsafe AtomicWord(elementsPlace.pointer(to: \.awaited).unsafelyUnwrapped) }

    @inlinable @inline(__always)
    var tableWord: AtomicWord { unsafe AtomicWord(elementsPlace.pointer(to: \.table).unsafelyUnwrapped) }
}

// Each of these keeps the object until it is done with the lock. So a caller that locks, touches the value and unlocks
// cannot lose the object in between. All are inlined, and none takes a closure: in generic code, which is not
// specialized, each would be a call, and an access took twice as long.
extension ProtectedStorage {
    @inlinable @inline(__always)
    func lock() {
        unsafe schedulingPoint("access to", self, lockPlace)
        let hasLocked = unsafe PlatformLock.Storage.tryLock(lockPlace)
        _fixLifetime(self)
        if !hasLocked { lockSlowly() }
    }

    // Here, because this is where the type is known without being passed on.
    @usableFromInline @inline(never)
    func lockSlowly() {
        withExtendedLifetime(self) { unsafe PlatformLock.Storage.lock(lockPlace, for: Protected<Value>.self) }
    }

    /// Takes the lock if that is possible in time.
    @usableFromInline
    func lock(until deadline: Deadline) -> Bool {
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

    @inlinable @inline(__always)
    func tryLock() -> Bool {
        unsafe schedulingPoint("try of", self, lockPlace, waits: false)
        defer { _fixLifetime(self) }
        return unsafe PlatformLock.Storage.tryLock(lockPlace)
    }

    /// Gives the lock back after an access that cannot have changed the value.
    @inlinable @inline(__always)
    func unlock() {
        defer { _fixLifetime(self) }
        unsafe PlatformLock.Storage.unlock(lockPlace)
        // After that: a thread that comes in between finds the lock free, or is seen.
        if !PlatformLock.Storage.hasLine, awaited.load() & AwaitedChange.lock != 0 { wakeTimed() }
    }

    /// Gives the lock back after an access that may have changed the value.
    @inlinable @inline(__always)
    func commit() {
        if hasWaiters { commitNotifying() } else { unlock() }
    }

    /// Whether a thread or task waits for a change; only with the lock.
    @inlinable @inline(__always)
    var hasWaiters: Bool {
        defer { _fixLifetime(self) }
        return awaited.load() != 0
    }
}
