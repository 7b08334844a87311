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
