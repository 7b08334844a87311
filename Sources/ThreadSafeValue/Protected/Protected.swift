//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A value that several threads read and change, one access at a time.
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
/// Stored members are changed in place. A member with `didSet`, a wrapper or a setter is copied out and in again, and
/// so is a part of the value that a subscript of the handle names. Change large ones in a `write` closure.
///
/// It is a handle: copies share one value. Every closure runs at once, on the calling thread, with the lock held; so
/// keep it short. <doc:ProtectingAValue> shows the ways to store one, and the mistakes.
///
/// The handle is not its value. It is never `nil`, also where its value is. It has the members of its value, but not
/// the methods, nor a subscript whose argument is not `Hashable`. `wrappedValue` leads to all of these:
///
/// ```swift
/// print(connection.lastError.wrappedValue ?? "-")  // without it: Protected(Optional("e7")), and a warning
/// if connection.lastError.wrappedValue == nil { names.wrappedValue.removeAll() }
/// services.wrappedValue[Clock.self] = clock
/// ```
///
/// - Warning: As a wrapper, use it on a property, and in a function as `let count = Protected(0)`. In some places Swift
///   reads a wrapped value and writes it back in two accesses, so that `count += 1` loses updates: on a *local*
///   variable or a parameter, on a property with `willSet` or `didSet`, on one that is overridden, through a key path,
///   and in a structure that is itself the value of a handle.
/// - Warning: Don't come back to a value from inside an access to it: the thread would wait for itself, and crashes
///   with a message that says so. Don't nest accesses to two values in opposite orders, nor at all if the two are
///   compared, swapped or named in `withLocked` anywhere: that crashes as well, but hangs on Apple systems.
///   `await f(&model.count)` keeps the lock while it is suspended: use a local copy there. In
///   `model.part?.count = other.count` the access opens before the right side is evaluated, and in
///   `model.counts[key, default: other.count] += 1` before the default: put that in a `let` first.
@propertyWrapper
@dynamicMemberLookup
public struct Protected<Value> {
    // Never changes. Its lock guards its value.
    @usableFromInline
    let storage: ProtectedStorage<Value>

    /// Protects a value.
    ///
    /// - Parameter value: What to protect.
    @inlinable
    public init(_ value: Value) {
        storage = .make(value)
    }

    /// Protects the first value of a wrapped property.
    ///
    /// - Parameter wrappedValue: What to protect.
    @inlinable
    public init(wrappedValue: Value) {
        storage = .make(wrappedValue)
    }

    // A property wrapper must have its two properties in its body.

    /// The value: read as a copy, replaced at once, or changed in place under the lock.
    ///
    /// `count += 1` on a wrapped property, or on this, is one atomic step; `count = count + 1` is two, and may lose an
    /// update. So may `count += 1` on a wrapped *local* variable, and on one with observers: see
    /// <doc:ProtectingAValue>.
    @inlinable
    public var wrappedValue: Value {
        get {
            lock()
            defer { unlock() }
            return unsafe place.pointee
        }
        nonmutating set {
            _ = exchange(newValue)
        }
        nonmutating _modify {
            lock()  // fault: a value changes unlocked
            defer { commit() }  // fault: a value changes unlocked
            yield unsafe &place.pointee
        }
    }

    /// The handle itself: what `$property` stands for.
    @inlinable
    public var projectedValue: Protected {
        self
    }
}

// The handle never changes, and all that it leads to is read and changed under one lock. Values that go in or come out
// cross to another thread, hence the condition.
extension Protected: @unchecked Sendable where Value: Sendable {}

extension Protected {
    /// Calls a closure with the value, on the calling thread, while nobody can change it.
    ///
    /// - Warning: Don't resume, yield, finish or cancel anything in the closure. Take it out, and do it after, as
    ///   with `write`.
    /// - Parameter body: What to do with the value. Crashes if it accesses the same protected value again.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    @inlinable
    public func read<Result: ~Copyable, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock()
        return try readAndUnlock(body)
    }

    /// Calls a closure that may change the value in place, on the calling thread, while nobody else can access it.
    ///
    /// A closure that throws keeps the changes that it has made before.
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
    ///   access. Take it out, and do it after.
    /// - Parameter body: What to do with the value. Crashes if it accesses the same protected value again.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    @inlinable @discardableResult
    public func write<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock()
        return try writeAndUnlock(body)
    }
}
