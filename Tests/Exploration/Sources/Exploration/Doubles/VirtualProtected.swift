//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The double of the protected value: the lock and the value in one object, reached as the subject does.
public struct Protected<Value> {
    let storage: ProtectedStorage<Value>

    init(_ value: Value) {
        storage = .make(value)
    }
}

extension Protected: @unchecked Sendable {}

extension Protected {
    var wrappedValue: Value { read { $0 } }

    func read<Result, Failure: Error>(_ body: (Value) throws(Failure) -> Result) throws(Failure) -> Result {
        try write { value throws(Failure) in try body(value) }
    }

    func write<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        storage.lock()
        defer { storage.unlock() }
        return try unsafe body(&storage.value.pointee)
    }

    func write(_ newValue: Value) {
        var other = newValue
        write { swap(&$0, &other) }
    }
}

/// The heap object behind `Protected`: the lock and the value that it guards, in one allocation.
///
/// Both stay at their place for the life of the object. Whoever holds the lock may touch the value. With the value
/// first an access took 1 ns less than with the lock first.
@safe
@usableFromInline
final class ProtectedStorage<Value>: ManagedBuffer<Value, PlatformLock.Storage> {
    // The value is the header, which ends by itself.
    @inlinable
    deinit {
        unsafe withUnsafeMutablePointerToElements { lock in
            unsafe PlatformLock.Storage.deinitialize(lock)
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
            unsafe PlatformLock.Storage.initialize(lock)
        }
        return storage
    }

    // Each of these keeps the object alive until it is done with the lock. So a caller that locks, touches the value
    // and unlocks cannot lose the object in between.

    @inlinable
    func lock() {
        unsafe withUnsafeMutablePointerToElements { lock in
            unsafe PlatformLock.Storage.lock(lock)
        }
    }

    @inlinable
    func tryLock() -> Bool {
        unsafe withUnsafeMutablePointerToElements { lock in
            unsafe PlatformLock.Storage.tryLock(lock)
        }
    }

    @inlinable
    func unlock() {
        unsafe withUnsafeMutablePointerToElements { lock in
            unsafe PlatformLock.Storage.unlock(lock)
        }
    }

    /// Where the value is: to be used only between `lock()` and `unlock()`.
    @inlinable
    var value: UnsafeMutablePointer<Value> {
        unsafe withUnsafeMutablePointerToHeader { value in unsafe value }
    }
}

@usableFromInline
func failCountChanged() -> Never {
    fatalError("No scenario takes several turns at once.")
}
