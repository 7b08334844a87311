//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// These are the same commands with the labels of the original framework, and with closures that may be `nil`. They are
// disfavored, so that a trailing closure takes the form without a label.

extension AsyncCommands {
    /// Reads the value in a closure, or does nothing if the closure is `nil`.
    ///
    /// - Parameter commandClosure: The closure, which is called as in `get { result in }`.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_disfavoredOverload @discardableResult public func get(
        completion commandClosure: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?
    ) -> CommandHandle<Void> {
        commandClosure.map { get($0) } ?? CommandHandle(.failure(.commandClosureDeallocated))
    }

    /// Reads the value in a closure that must call `done`, or fails if the closure is `nil`.
    ///
    /// - Parameters:
    ///   - commandClosure: The closure, which is called as in `get { result, done in }`.
    ///   - completion: Called as in that form. If the closure is `nil`, it gets
    ///     ``QueueSafeValueError/commandClosureDeallocated``.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_disfavoredOverload @discardableResult public func get(
        manualCompletion commandClosure: (
            @Sendable (Result<Value, QueueSafeValueError>, @escaping CommandCompletionClosure) -> Void
        )?,
        completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        commandClosure.map { get($0, completion: completion) } ?? fail(completion)
    }

    /// Changes the value in place, or fails if the closure is `nil`.
    ///
    /// - Parameters:
    ///   - accessClosure: The closure, which is called as in `set { current in }`.
    ///   - completion: Called as in that form. If the closure is `nil`, it gets
    ///     ``QueueSafeValueError/commandClosureDeallocated``.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_disfavoredOverload @discardableResult public func set(
        accessClosure: (@Sendable (inout Value) throws -> Void)?,
        completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        accessClosure.map { set($0, completion: completion) } ?? fail(completion)
    }

    /// Changes the value in place in a closure that must call `done`, or fails if the closure is `nil`.
    ///
    /// - Parameters:
    ///   - accessClosure: The closure, which is called as in `set { current, done in }`.
    ///   - completion: Called as in that form. If the closure is `nil`, it gets
    ///     ``QueueSafeValueError/commandClosureDeallocated``.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_disfavoredOverload @discardableResult public func set(
        manualCompletion accessClosure: (
            @Sendable (inout Value, @escaping CommandCompletionClosure) throws -> Void
        )?,
        completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        accessClosure.map { set($0, completion: completion) } ?? fail(completion)
    }
}
