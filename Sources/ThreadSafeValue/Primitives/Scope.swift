//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Calls `body` and then `end`, also when `body` throws.
///
/// The answer of `body` goes away after `end`, even if the caller drops it. With `defer` it would not: in release, the
/// compiler lets go of a result that nobody uses as early as it can, which is before `end`, so under the lock that
/// `end` gives back.
@inlinable @_transparent @inline(__always) func scope<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result,
    end: () -> Void
) throws(Failure) -> Result {
    let result: Result
    do throws(Failure) {
        result = try body()
    } catch {
        end()  // fault: a throwing access keeps the lock
        throw error
    }
    end()
    _fixLifetime(result)
    return result
}

/// Runs `body` with the values at some places, each of which has one again afterwards.
@inlinable func withMoved<Value, Answer: ~Copyable, Failure: Error>(
    _ places: [UnsafeMutablePointer<Value>],
    _ body: (inout [Value]) throws(Failure) -> Answer
) throws(Failure) -> Answer {
    // The values are moved out and in again. They are not copied, so a collection is changed in place.
    var moved = [Value]()
    unsafe moved.reserveCapacity(places.count)
    // The loops make no pairs, which would copy a large value over the stack.
    for index in unsafe places.indices { unsafe moved.append(places[index].move()) }
    defer {
        if unsafe moved.count != places.count { failCountChanged() }
        for index in unsafe places.indices { unsafe places[index].initialize(to: moved[index]) }
    }
    return try body(&moved)
}

@usableFromInline @inline(never) func failCountChanged() -> Never {
    fatalError("The closure of withLocked has changed the number of the values. Keep one element for each value.")
}
