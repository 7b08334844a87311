//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A value that several threads read and change, with one access at a time.
///
/// ```swift
/// let model = Protected(Model())
///
/// model.count += 1                           // one atomic step, also from many threads
/// model.names.append("Ada")                  // in place, without a copy
/// let total = model.read { $0.count + $0.names.count }
/// model.write { model in                     // several changes, one step
///     model.count = 0
///     model.names.removeAll()
/// }
/// ```
///
/// Stored members are changed in place. A member with `didSet`, a property wrapper or a setter is copied out and written
/// back. So is a part of the value that you name with a subscript of the handle. Change a large one in a `write` closure.
///
/// `Protected` is a handle: its copies share one value. Every closure runs at once on the calling thread, which holds the
/// lock, so keep the closure short. <doc:ProtectingAValue> shows where to keep a handle, and which mistakes to avoid.
///
/// The handle is not the value. The handle is never `nil`, even if the value is. The handle has the members of the value,
/// but neither its methods nor a subscript whose argument is not `Hashable`. Use `wrappedValue` for these:
///
/// ```swift
/// print(connection.lastError.wrappedValue ?? "-")  // without it: Protected(Optional("e7")), and a warning
/// if connection.lastError.wrappedValue == nil { names.wrappedValue.removeAll() }
/// services.wrappedValue[Clock.self] = clock
/// ```
///
/// - Warning: Use the wrapper on a property. In a function, write `let count = Protected(0)`. In some places Swift reads a
///   wrapped value and writes it back in two accesses, so that `count += 1` loses updates: on a *local* variable or a
///   parameter, on a property with `willSet` or `didSet`, on a property that a subclass overrides, through a key path,
///   and in a structure that is itself the value of a handle.
/// - Warning: Don't use a value inside an access to the same value. The thread would wait for itself, and crashes with a
///   message that says so. Don't nest accesses to two values in opposite orders, and don't nest them at all if the two are
///   compared, swapped or named in `withLocked` anywhere. Such nesting crashes with a message; on Apple systems, it hangs.
/// - Warning: `await f(&model.count)` holds the lock while the task is suspended, so pass a local copy there. In
///   `model.part?.count = other.count` the access begins before the right side is evaluated. In
///   `model.counts[key, default: other.count] += 1` it begins before the default is evaluated. Read the other value
///   into a `let` first.
@propertyWrapper @dynamicMemberLookup public struct Protected<Value> {
    // Never changes. Its lock guards its value.
    @usableFromInline let storage: ProtectedStorage<Value>

    /// Protects a value.
    ///
    /// - Parameter value: The value to protect.
    @inlinable public init(_ value: Value) { storage = .make(value) }

    /// Protects the first value of a wrapped property.
    ///
    /// - Parameter wrappedValue: The value to protect.
    @inlinable @_disfavoredOverload public init(wrappedValue: Value) { storage = .make(wrappedValue) }

    // A property wrapper must have its two properties in its body.

    /// The value: you read a copy, replace it, or change it in place under the lock.
    ///
    /// `count += 1` is one atomic step on a wrapped property and on `wrappedValue`. `count = count + 1` is two steps, and
    /// may lose an update. `count += 1` may lose one too on a wrapped *local* variable and on a property with observers:
    /// see <doc:ProtectingAValue>.
    @inlinable public var wrappedValue: Value {
        get {
            storage.lock()
            defer { storage.unlock() }
            return unsafe storage.value.pointee
        }
        nonmutating set { _ = exchange(newValue) }
        nonmutating _modify {
            storage.lock()  // fault: a value changes unlocked
            defer { storage.commit() }  // fault: a value changes unlocked
            yield unsafe &storage.value.pointee
        }
    }

    /// The handle itself, which `$property` stands for.
    @inlinable public var projectedValue: Protected { self }
}

// The handle never changes, and everything that it refers to is read and changed under one lock. Values that go in or
// come out may cross to another thread, so they must be `Sendable`.
extension Protected: @unchecked Sendable where Value: Sendable {}

extension Protected {
    /// Calls a closure with the value, on the calling thread, while nobody can change the value.
    ///
    /// - Warning: Don't resume, yield, finish or cancel anything in the closure. Return it from the closure, and act after
    ///   that, as with `write`.
    /// - Parameter body: The access to the value. The program crashes if it accesses the same protected value again.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    @inlinable @inline(__always) public func read<Result: ~Copyable, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        storage.lock()
        return try readAndUnlock(body)
    }

    /// Calls a closure that may change the value in place, on the calling thread, while nobody else can access the value.
    ///
    /// If the closure throws, the changes that it made before stay.
    ///
    /// ```swift
    /// let next = waiting.write { $0.popLast() }  // a CheckedContinuation, taken out
    /// next?.resume()
    ///
    /// let count = visits.write { visits in
    ///     visits += 1
    ///     return visits
    /// }
    /// continuation.yield(count)                  // of an AsyncStream
    /// ```
    ///
    /// - Warning: Don't resume, yield, finish or cancel anything in the closure: that may run code which waits for this
    ///   access to end. Return it from the closure, and act after that.
    /// - Parameter body: The access to the value. The program crashes if it accesses the same protected value again.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    @inlinable @inline(__always) public func write<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        storage.lock()
        return try writeAndUnlock(body)
    }

    /// Calls a closure that may change the value in place, on the calling thread: the same as `write`.
    ///
    /// - Parameter body: The access to the value. The program crashes if it accesses the same protected value again.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    @inlinable @inline(__always) public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try write(body)
    }
}
