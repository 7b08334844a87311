//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

// Time-outs as `Duration`, where the system has it. Disfavored, as both types have `.seconds(1)`.

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Protected {
    /// Calls a closure that may change the value, unless its turn does not come in time.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait for the turn, not for the closure. With zero or less it is tried once.
    ///   - body: What to do with the value, on the calling thread, while nobody else can access it.
    /// - Returns: What the closure returns; `nil` if it was not called, and never will be.
    /// - Throws: What the closure throws.
    @inlinable
    @_disfavoredOverload
    public func write<Result: ~Copyable, Failure: Error>(
        timeout: Duration,
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        try write(timeout: DispatchTimeInterval(timeout), body)
    }

    /// Waits until the value meets a condition, which is tested now and after every change, unless that takes too
    /// long.
    ///
    /// - Parameters:
    ///   - condition: Whether this is the value to wait for. It may be tested a last time while this returns.
    ///   - timeout: How long to wait. With zero or less the condition is tested once, if nobody is accessing the
    ///     value.
    /// - Returns: Whether a value met the condition in time.
    @_disfavoredOverload
    @available(*, noasync, message: "It blocks the thread. Use `try await wait(until:)`, which a cancellation ends.")
    public func wait(until condition: @escaping @Sendable (Value) -> Bool, timeout: Duration) -> Bool {
        wait(until: condition, timeout: DispatchTimeInterval(timeout))
    }

    /// Waits until the value meets a condition, then changes it, in one step, unless that takes too long.
    ///
    /// - Parameters:
    ///   - condition: Whether this is the value to wait for.
    ///   - timeout: How long to wait, not for the closure. With zero or less it is tried once.
    ///   - body: What to do with the value, on the calling thread, while nobody else can access it.
    /// - Returns: What the closure returns; `nil` if it was not called, and never will be.
    /// - Throws: What the closure throws.
    @inlinable
    @_disfavoredOverload
    @available(*, noasync, message: "It blocks the thread. Use `try await write(when:)`, which a cancellation ends.")
    public func write<Result: ~Copyable, Failure: Error>(
        when condition: @escaping @Sendable (Value) -> Bool,
        timeout: Duration,
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        try write(when: condition, timeout: DispatchTimeInterval(timeout), body)
    }
}
