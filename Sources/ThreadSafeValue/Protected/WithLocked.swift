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
/// The locks are taken in one order everywhere, so threads that name the same values in any order cannot hang.
///
/// - Warning: Crashes, before it takes any lock, if one value is named twice: there cannot be two `inout` accesses to one
///   value. ``Protected/isSame(as:)`` tells. Crashes too if the calling thread is accessing one of the values already.
/// - Parameters:
///   - first: A protected value.
///   - second: Another one.
///   - body: What to do with the values, which it may change in place.
/// - Returns: What the closure returns.
/// - Throws: What the closure throws. What it has changed before stays changed.
@inlinable
public func withLocked<First, Second, Result: ~Copyable, Failure: Error>(
    _ first: Protected<First>,
    _ second: Protected<Second>,
    body: (inout First, inout Second) throws(Failure) -> Result
) throws(Failure) -> Result {
    // The same as with any number, but without the list.
    let (lower, upper) = (ObjectIdentifier(first.storage), ObjectIdentifier(second.storage))
    if lower == upper { failNamedTwice() }
    if lower < upper { first.storage.lock() }
    second.storage.lock()
    if upper < lower { first.storage.lock() }
    defer {
        let tells = (first.storage.commitToTell(), second.storage.commitToTell())
        withExtendedLifetime((first, second)) {
            tells.0()
            tells.1()
        }
    }
    return try unsafe body(&first.storage.value.pointee, &second.storage.value.pointee)
}

/// Calls a closure with several values, on the calling thread, while nobody else can access any of them.
///
/// As ``withLocked(_:_:body:)``, with three values.
///
/// - Parameters:
///   - first: A protected value.
///   - second: Another one.
///   - third: Another one.
///   - body: What to do with the values, which it may change in place.
/// - Returns: What the closure returns.
/// - Throws: What the closure throws. What it has changed before stays changed.
@inlinable
public func withLocked<First, Second, Third, Result: ~Copyable, Failure: Error>(
    _ first: Protected<First>,
    _ second: Protected<Second>,
    _ third: Protected<Third>,
    body: (inout First, inout Second, inout Third) throws(Failure) -> Result
) throws(Failure) -> Result {
    try withLocked(first, second, third) { values throws(Failure) in try body(&values.0, &values.1, &values.2) }
}

/// Calls a closure with any number of values, as one tuple, while nobody else can access any of them.
///
/// ```swift
/// withLocked(north, east, south, west) { winds in
///     winds.0 += winds.2
///     winds.1 += winds.3
/// }
/// ```
///
/// As ``withLocked(_:_:body:)``, but the closure has one parameter: the language has no list of any number of `inout`
/// parameters yet.
///
/// - Parameters:
///   - values: Protected values of any types, each named once.
///   - body: What to do with the values, which it may change in place.
/// - Returns: What the closure returns.
/// - Throws: What the closure throws. What it has changed before stays changed.
@inlinable
public func withLocked<each Value, Result: ~Copyable, Failure: Error>(
    _ values: repeat Protected<each Value>,
    body: (inout (repeat each Value)) throws(Failure) -> Result
) throws(Failure) -> Result {
    var storages = [any LockableStorage]()
    for value in repeat each values { storages.append(value.storage) }
    storages.sort { ObjectIdentifier($0) < ObjectIdentifier($1) }
    for (lower, upper) in zip(storages, storages.dropFirst()) where lower === upper { failNamedTwice() }
    for storage in storages { storage.lock() }
    defer {
        withExtendedLifetime(storages) {
            for tell in storages.map({ $0.commitToTell() }) { tell() }
        }
    }

    // Moved out and in again, the values are not copied, so that a collection is changed in place.
    var moved = (repeat unsafe (each values).storage.value.move())
    defer { _ = (repeat unsafe (each values).storage.value.initialize(to: each moved)) }
    return try body(&moved)
}

/// A storage of any type of value.
@usableFromInline
protocol LockableStorage: AnyObject {
    func lock()
    func commitToTell() -> () -> Void
}

extension ProtectedStorage: LockableStorage {}

@usableFromInline
@inline(never)
func failNamedTwice() -> Never {
    fatalError("withLocked names one value twice. There cannot be two inout accesses to one value.")
}

extension Protected {
    /// Tells whether two handles share one value.
    ///
    /// - Parameter other: The other handle.
    /// - Returns: Whether it is the same value, and not only an equal one.
    @inlinable
    public func isSame(as other: Protected) -> Bool {
        storage === other.storage
    }
}
