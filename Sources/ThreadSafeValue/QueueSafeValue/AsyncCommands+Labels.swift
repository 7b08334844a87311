//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// The same commands with the labels of the original framework, and closures that may be `nil`. Disfavored, so that a
// trailing closure takes the form without a label.

extension AsyncCommands {
    /// Reads the value in a closure, or does nothing if it is `nil`.
    ///
    /// - Parameter commandClosure: Called as in `get { result in }`.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_disfavoredOverload @discardableResult
    public func get(
        completion commandClosure: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)?
    ) -> CommandHandle<Void> {
        guard let commandClosure else { return CommandHandle(.failure(.commandClosureDeallocated)) }
        return get(commandClosure)
    }

    /// Reads the value in a closure that must call `done`, or fails if it is `nil`.
    ///
    /// - Parameters:
    ///   - commandClosure: Called as in `get { result, done in }`.
    ///   - completion: Called as there; for `nil` with ``QueueSafeValueError/commandClosureDeallocated``.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_disfavoredOverload @discardableResult
    public func get(
        manualCompletion commandClosure: (
            @Sendable (Result<Value, QueueSafeValueError>, @escaping CommandCompletionClosure) -> Void
        )?,
        completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        guard let commandClosure else { return fail(completion) }
        return get(commandClosure, completion: completion)
    }

    /// Changes the value in place, or fails if the closure is `nil`.
    ///
    /// - Parameters:
    ///   - accessClosure: Called as in `set { current in }`.
    ///   - completion: Called as there; for `nil` with ``QueueSafeValueError/commandClosureDeallocated``.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_disfavoredOverload @discardableResult
    public func set(
        accessClosure: (@Sendable (inout Value) throws -> Void)?,
        completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        guard let accessClosure else { return fail(completion) }
        return set(accessClosure, completion: completion)
    }

    /// Changes the value in place in a closure that must call `done`, or fails if it is `nil`.
    ///
    /// - Parameters:
    ///   - accessClosure: Called as in `set { current, done in }`.
    ///   - completion: Called as there; for `nil` with ``QueueSafeValueError/commandClosureDeallocated``.
    /// - Returns: A handle, to cancel the command or to await its end.
    @inlinable @_disfavoredOverload @discardableResult
    public func set(
        manualCompletion accessClosure: (
            @Sendable (inout Value, @escaping CommandCompletionClosure) throws -> Void
        )?,
        completion: (@Sendable (Result<Value, QueueSafeValueError>) -> Void)? = nil
    ) -> CommandHandle<Void> {
        guard let accessClosure else { return fail(completion) }
        return set(accessClosure, completion: completion)
    }
}
