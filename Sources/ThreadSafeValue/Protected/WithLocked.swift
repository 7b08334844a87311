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
/// The locks are taken in one order everywhere, so threads that name the same values in any order cannot hang. It is no
/// order that a program knows: don't nest accesses to the same values elsewhere, in whatever order. That is the mistake
/// of nesting them in opposite orders: it crashes with a message, but hangs on Apple systems.
///
/// - Warning: Crashes, before it takes any lock, if one value is named twice: there cannot be two `inout` accesses to
///   one value. ``Protected/isSame(as:)`` tells. Crashes too if the calling thread is accessing one of the values
///   already.
/// - Parameters:
///   - first: A protected value.
///   - second: Another one.
///   - body: What to do with the values, which it may change in place.
/// - Returns: What the closure returns.
/// - Throws: What the closure throws. What it has changed before stays changed.
@inlinable
@discardableResult
public func withLocked<First, Second, Result: ~Copyable, Failure: Error>(
    _ first: Protected<First>,
    _ second: Protected<Second>,
    body: (inout First, inout Second) throws(Failure) -> Result
) throws(Failure) -> Result {
    let (lower, upper) = (ObjectIdentifier(first.storage), ObjectIdentifier(second.storage))
    if lower == upper { failNamedTwice() }
    if lower < upper { first.lock() }
    second.lock()
    if upper < lower { first.lock() }
    return try scope { () throws(Failure) in
        try unsafe body(&first.place.pointee, &second.place.pointee)
    } end: {
        if first.hasWaiters || second.hasWaiters {
            withExtendedLifetime((first, second)) {
                notify([first.storage.commitToNotify(), second.storage.commitToNotify()])
            }
        } else {
            first.unlock()
            second.unlock()
        }
    }
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
@discardableResult
public func withLocked<First, Second, Third, Result: ~Copyable, Failure: Error>(
    _ first: Protected<First>,
    _ second: Protected<Second>,
    _ third: Protected<Third>,
    body: (inout First, inout Second, inout Third) throws(Failure) -> Result
) throws(Failure) -> Result {
    lock(first.storage, second.storage, third.storage)
    return try scope { () throws(Failure) in
        try unsafe body(
            &first.place.pointee,
            &second.place.pointee,
            &third.place.pointee
        )
    } end: {
        if first.hasWaiters || second.hasWaiters || third.hasWaiters {
            withExtendedLifetime((first, second, third)) {
                notify([
                    first.storage.commitToNotify(), second.storage.commitToNotify(), third.storage.commitToNotify(),
                ])
            }
        } else {
            first.unlock()
            second.unlock()
            third.unlock()
        }
    }
}

/// Calls a closure with several values, on the calling thread, while nobody else can access any of them.
///
/// As ``withLocked(_:_:body:)``, with four values.
///
/// - Parameters:
///   - first: A protected value.
///   - second: Another one.
///   - third: Another one.
///   - fourth: Another one.
///   - body: What to do with the values, which it may change in place.
/// - Returns: What the closure returns.
/// - Throws: What the closure throws. What it has changed before stays changed.
@inlinable
@discardableResult
public func withLocked<First, Second, Third, Fourth, Result: ~Copyable, Failure: Error>(
    _ first: Protected<First>,
    _ second: Protected<Second>,
    _ third: Protected<Third>,
    _ fourth: Protected<Fourth>,
    body: (inout First, inout Second, inout Third, inout Fourth) throws(Failure) -> Result
) throws(Failure) -> Result {
    lock(first.storage, second.storage, third.storage, fourth.storage)
    return try scope { () throws(Failure) in
        try unsafe body(
            &first.place.pointee,
            &second.place.pointee,
            &third.place.pointee,
            &fourth.place.pointee
        )
    } end: {
        if first.hasWaiters || second.hasWaiters || third.hasWaiters || fourth.hasWaiters {
            withExtendedLifetime((first, second, third, fourth)) {
                notify([
                    first.storage.commitToNotify(), second.storage.commitToNotify(), third.storage.commitToNotify(),
                    fourth.storage.commitToNotify(),
                ])
            }
        } else {
            first.unlock()
            second.unlock()
            third.unlock()
            fourth.unlock()
        }
    }
}

/// Calls a closure with the values of a list, as one array, while nobody else can access any of them.
///
/// ```swift
/// withLocked(accounts) { accounts in
///     accounts[0] -= 10
///     accounts[1] += 10
/// }
/// ```
///
/// As ``withLocked(_:_:body:)``, for as many values of one type as there are at run time.
///
/// - Warning: Crashes, before it takes any lock, if one value is named twice; and if the closure has changed the
///   number of the elements, because then it can't be told which belongs to which value.
/// - Parameters:
///   - values: Protected values, each named once.
///   - body: What to do with the values, which it may change in place.
/// - Returns: What the closure returns.
/// - Throws: What the closure throws. What it has changed before stays changed.
@inlinable
@discardableResult
public func withLocked<Value, Result: ~Copyable, Failure: Error>(
    _ values: [Protected<Value>],
    body: (inout [Value]) throws(Failure) -> Result
) throws(Failure) -> Result {
    // A closure, as a generic key path is made anew for each call.
    let ordered = values.map { $0.storage }.sorted { ObjectIdentifier($0) < ObjectIdentifier($1) }
    for (lower, upper) in zip(ordered, ordered.dropFirst()) where lower === upper { failNamedTwice() }
    for storage in ordered { storage.lock() }
    return try scope { () throws(Failure) in
        // Moved out and in again, the values are not copied, so that a collection is changed in place.
        var moved = [Value]()
        moved.reserveCapacity(values.count)
        for value in values { unsafe moved.append(value.place.move()) }
        defer {
            if moved.count != values.count { failCountChanged() }
            // Not in pairs: a large value would go over the stack.
            for index in values.indices { unsafe values[index].place.initialize(to: moved[index]) }
        }
        return try body(&moved)
    } end: {
        commit(ordered)
    }
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
/// parameters yet. If the compiler takes long over a closure of one expression, or finds no match, name the type of the
/// parameter: `(winds: inout (Int, Int, Int, Int)) in`. It takes many times as long as with a parameter for each value.
///
/// - Parameters:
///   - values: Protected values of any types, each named once.
///   - body: What to do with the values, which it may change in place.
/// - Returns: What the closure returns.
/// - Throws: What the closure throws. What it has changed before stays changed.
@inlinable
@discardableResult
public func withLocked<each Value, Result: ~Copyable, Failure: Error>(
    _ values: repeat Protected<each Value>,
    body: (inout (repeat each Value)) throws(Failure) -> Result
) throws(Failure) -> Result {
    lock(repeat (each values).storage)
    return try scope { () throws(Failure) in
        // Moved out and in again, the values are not copied, so that a collection is changed in place.
        var moved = (repeat unsafe (each values).place.move())
        defer { _ = (repeat unsafe (each values).place.initialize(to: each moved)) }
        return try body(&moved)
    } end: {
        commit(repeat (each values).storage)
    }
}

/// Takes the locks of three values in the one order.
@inlinable
func lock<First, Second, Third>(
    _ first: ProtectedStorage<First>,
    _ second: ProtectedStorage<Second>,
    _ third: ProtectedStorage<Third>
) {
    let ids = (ObjectIdentifier(first), ObjectIdentifier(second), ObjectIdentifier(third))
    if ids.0 == ids.1 || ids.1 == ids.2 || ids.0 == ids.2 { failNamedTwice() }
    let lowest = min(ids.0, ids.1, ids.2)
    let highest = max(ids.0, ids.1, ids.2)
    if ids.0 == lowest { first.lock() } else if ids.1 == lowest { second.lock() } else { third.lock() }
    if ids.0 != lowest, ids.0 != highest {
        first.lock()
    } else if ids.1 != lowest, ids.1 != highest {
        second.lock()
    } else {
        third.lock()
    }
    if ids.0 == highest { first.lock() } else if ids.1 == highest { second.lock() } else { third.lock() }
}

/// Takes the locks of four values in the one order.
@inlinable
func lock<First, Second, Third, Fourth>(
    _ first: ProtectedStorage<First>,
    _ second: ProtectedStorage<Second>,
    _ third: ProtectedStorage<Third>,
    _ fourth: ProtectedStorage<Fourth>
) {
    var ids = (ObjectIdentifier(first), ObjectIdentifier(second), ObjectIdentifier(third), ObjectIdentifier(fourth))
    // The lower and the higher of each half, then the lowest and the highest of all, then the two between.
    if ids.1 < ids.0 { swap(&ids.0, &ids.1) }
    if ids.3 < ids.2 { swap(&ids.2, &ids.3) }
    if ids.2 < ids.0 { swap(&ids.0, &ids.2) }
    if ids.3 < ids.1 { swap(&ids.1, &ids.3) }
    if ids.2 < ids.1 { swap(&ids.1, &ids.2) }
    if ids.0 == ids.1 || ids.1 == ids.2 || ids.2 == ids.3 { failNamedTwice() }
    func lock(_ id: ObjectIdentifier) {
        if id == ObjectIdentifier(first) {
            first.lock()
        } else if id == ObjectIdentifier(second) {
            second.lock()
        } else if id == ObjectIdentifier(third) {
            third.lock()
        } else {
            fourth.lock()
        }
    }
    lock(ids.0)
    lock(ids.1)
    lock(ids.2)
    lock(ids.3)
}

/// Takes the locks of any number of values in the one order.
@inlinable
func lock<each Value>(_ storages: repeat ProtectedStorage<each Value>) {
    var ids = [ObjectIdentifier]()
    for storage in repeat each storages { ids.append(ObjectIdentifier(storage)) }
    ids.sort()
    for (lower, upper) in zip(ids, ids.dropFirst()) where lower == upper { failNamedTwice() }
    for id in ids {
        for storage in repeat each storages {
            if ObjectIdentifier(storage) == id { storage.lock() }
        }
    }
}

/// Gives back the locks of values that may have changed, then notifies those who wait for a change.
@inlinable
func commit<each Value>(_ storages: repeat ProtectedStorage<each Value>) {
    var hasWaiters = false
    for storage in repeat each storages { hasWaiters = hasWaiters || storage.hasWaiters }
    if hasWaiters { return commitNotifying(repeat each storages) }
    for storage in repeat each storages { storage.unlock() }
}

@usableFromInline
@inline(never)
func commitNotifying<each Value>(_ storages: repeat ProtectedStorage<each Value>) {
    var waiters = [() -> Void]()
    for storage in repeat each storages { waiters.append(storage.commitToNotify()) }
    withExtendedLifetime((repeat each storages)) { notify(waiters) }
}

/// Gives back the locks of a list of values that may have changed, then notifies those who wait for a change.
@inlinable
func commit<Value>(_ storages: [ProtectedStorage<Value>]) {
    if storages.contains(where: { $0.hasWaiters }) { return commitNotifying(storages) }
    for storage in storages { storage.unlock() }
}

@inlinable
@inline(never)
func commitNotifying<Value>(_ storages: [ProtectedStorage<Value>]) {
    let waiters = storages.map { $0.commitToNotify() }
    withExtendedLifetime(storages) { notify(waiters) }
}

/// Notifies those who wait for a change of one of several values, when their locks are free.
@usableFromInline
@inline(never)
func notify(_ waiters: [() -> Void]) {
    for notify in waiters { notify() }
}

@usableFromInline
@inline(never)
func failNamedTwice() -> Never {
    fatalError(
        "withLocked names one value twice. There cannot be two inout accesses to one value: ask `isSame(as:)` first."
    )
}

@usableFromInline
@inline(never)
func failCountChanged() -> Never {
    fatalError("The closure of withLocked has changed the number of the values. Each needs a value to be given back.")
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
