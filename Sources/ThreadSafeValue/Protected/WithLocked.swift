//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Calls a closure with several values, on the calling thread, while nobody else can access any of them.
///
/// ```swift
/// withLocked(source, target) { source, target in
///     source -= 10
///     target += 10
/// }
/// ```
///
/// The locks are taken in one order everywhere, so threads may name the same values in any order. A program does not know
/// this order, so don't nest accesses to the same values elsewhere. Nested accesses may take the locks in the opposite
/// order: this mistake crashes with a message; on Apple systems, it hangs.
///
/// - Warning: The program crashes before it takes any lock if you name one value twice, because two `inout` accesses to
///   one value cannot exist. ``Protected/isSame(as:)`` says whether two handles share a value. The program also crashes
///   if the calling thread is already accessing one of the values.
/// - Parameters:
///   - first: A protected value.
///   - second: Another protected value.
///   - body: The access to the values, which it may change in place.
/// - Returns: The result of the closure.
/// - Throws: The error of the closure. The changes that it made before stay.
@inlinable public func withLocked<First, Second, Result: ~Copyable, Failure: Error>(
    _ first: Protected<First>,
    _ second: Protected<Second>,
    body: (inout First, inout Second) throws(Failure) -> Result
) throws(Failure) -> Result {
    lock(first.storage, second.storage)
    return try scope { () throws(Failure) in
        try unsafe body(&first.storage.value.pointee, &second.storage.value.pointee)
    } end: {
        if first.storage.hasWaiters || second.storage.hasWaiters {
            for notify in [first.storage.commitToNotify(), second.storage.commitToNotify()] { notify() }
        } else {
            first.storage.unlock()
            second.storage.unlock()
        }
        // No value is released before all locks are free.
        withExtendedLifetime((first, second)) {}
    }
}

/// Calls a closure with several values, on the calling thread, while nobody else can access any of them.
///
/// This is ``withLocked(_:_:body:)`` for three values.
///
/// - Parameters:
///   - first: A protected value.
///   - second: Another protected value.
///   - third: Another protected value.
///   - body: The access to the values, which it may change in place.
/// - Returns: The result of the closure.
/// - Throws: The error of the closure. The changes that it made before stay.
@inlinable public func withLocked<First, Second, Third, Result: ~Copyable, Failure: Error>(
    _ first: Protected<First>,
    _ second: Protected<Second>,
    _ third: Protected<Third>,
    body: (inout First, inout Second, inout Third) throws(Failure) -> Result
) throws(Failure) -> Result {
    lock(first.storage, second.storage, third.storage)
    return try scope { () throws(Failure) in
        try unsafe body(&first.storage.value.pointee, &second.storage.value.pointee, &third.storage.value.pointee)
    } end: {
        if first.storage.hasWaiters || second.storage.hasWaiters || third.storage.hasWaiters {
            let (first, second, third) = (first.storage, second.storage, third.storage)
            let all = [first.commitToNotify(), second.commitToNotify(), third.commitToNotify()]
            for notify in all { notify() }
        } else {
            first.storage.unlock()
            second.storage.unlock()
            third.storage.unlock()
        }
        withExtendedLifetime((first, second, third)) {}
    }
}

/// Calls a closure with the values of several handles, as one array, while nobody else can access any of them.
///
/// ```swift
/// withLocked(accounts) { accounts in
///     accounts[0] -= 10
///     accounts[1] += 10
/// }
/// ```
///
/// This is ``withLocked(_:_:body:)`` for any number of values of one type.
///
/// - Warning: The program crashes before it takes any lock if you name one value twice. It also crashes if the closure
///   changes the number of elements, because then no rule says which element belongs to which value.
/// - Parameters:
///   - values: Protected values, each of which is named once.
///   - body: The access to the values, which it may change in place.
/// - Returns: The result of the closure.
/// - Throws: The error of the closure. The changes that it made before stay.
@inlinable public func withLocked<Value, Result: ~Copyable, Failure: Error>(
    _ values: [Protected<Value>],
    body: (inout [Value]) throws(Failure) -> Result
) throws(Failure) -> Result {
    // A closure, because a generic key path is made anew for each call.
    let ordered = values.map { $0.storage }.sorted { ObjectIdentifier($0) < ObjectIdentifier($1) }
    for (lower, upper) in zip(ordered, ordered.dropFirst()) where lower === upper { failNamedTwice() }
    for storage in ordered { storage.lock() }
    return try scope { () throws(Failure) in
        try unsafe withMoved(values.map { unsafe $0.storage.value }, body)
    } end: {
        if ordered.contains(where: { $0.hasWaiters }) {  // fault: a change of a list is not told
            for notify in ordered.map({ $0.commitToNotify() }) { notify() }
        } else {
            for storage in ordered { storage.unlock() }
        }
        withExtendedLifetime(ordered) {}
    }
}

/// Takes the locks of two values in the one order.
@inlinable @inline(__always)
func lock<First, Second>(_ first: ProtectedStorage<First>, _ second: ProtectedStorage<Second>) {
    let ids = (ObjectIdentifier(first), ObjectIdentifier(second))
    if ids.0 == ids.1 { failNamedTwice() }
    if ids.0 < ids.1 { first.lock() }
    second.lock()
    if ids.1 < ids.0 { first.lock() }
}

/// Takes the locks of three values in the one order.
@inlinable func lock<First, Second, Third>(
    _ first: ProtectedStorage<First>,
    _ second: ProtectedStorage<Second>,
    _ third: ProtectedStorage<Third>
) {
    let ids = (ObjectIdentifier(first), ObjectIdentifier(second), ObjectIdentifier(third))
    if ids.1 < ids.0 { return lock(second, first, third) }
    if ids.2 < ids.1 { return lock(first, third, second) }  // fault: the middle two are unordered
    if ids.0 == ids.1 || ids.1 == ids.2 { failNamedTwice() }
    first.lock()
    second.lock()
    third.lock()
}

@usableFromInline @inline(never) func failNamedTwice() -> Never {
    fatalError(
        "withLocked names one value twice. One value cannot have two inout accesses: check with `isSame(as:)` first."
    )
}

extension Protected {
    /// Returns whether two handles share one value.
    ///
    /// - Parameter other: The other handle.
    /// - Returns: `true` if both handles refer to the same value; an equal value is not enough.
    @inlinable public func isSame(as other: Protected) -> Bool { storage === other.storage }
}
