//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// The same commands with the labels of the original framework, and closures that may be `nil`. Disfavored, so that a
// trailing closure takes the form without a label, and need not escape.

extension WaitCommands {
    /// Reads the value in a closure, or does nothing if it is `nil`.
    ///
    /// - Parameter commandClosure: Called as in `get { result in }`.
    @inlinable @_disfavoredOverload
    public func get(completion commandClosure: ((Result<Value, QueueSafeValueError>) -> Void)?) {
        if let commandClosure { get(commandClosure) }
    }

    /// Reads the value in a closure that must call `done`, or fails if it is `nil`.
    ///
    /// - Parameter commandClosure: Called as in `get { result, done in }`.
    /// - Returns: The value, or why the command failed: ``QueueSafeValueError/commandClosureDeallocated`` for `nil`.
    @inlinable @_disfavoredOverload @discardableResult
    public func get(
        manualCompletion commandClosure: (
            (Result<Value, QueueSafeValueError>, @escaping CommandCompletionClosure) -> Void
        )?
    ) -> Result<Value, QueueSafeValueError> {
        guard let commandClosure else { return .failure(.commandClosureDeallocated) }
        return get(commandClosure)
    }

    /// Changes the value in place, or fails if the closure is `nil`.
    ///
    /// - Parameter accessClosure: Called as in `set { current in }`.
    /// - Returns: The updated value, or why the command failed: ``QueueSafeValueError/commandClosureDeallocated`` for
    ///   `nil`.
    @inlinable @_disfavoredOverload @discardableResult
    public func set(
        completion accessClosure: ((inout Value) throws -> Void)?
    ) -> Result<Value, QueueSafeValueError> {
        guard let accessClosure else { return .failure(.commandClosureDeallocated) }
        return set(accessClosure)
    }

    /// Changes the value in place in a closure that must call `done`, or fails if it is `nil`.
    ///
    /// - Parameter accessClosure: Called as in `set { current, done in }`.
    /// - Returns: The updated value, or why the command failed: ``QueueSafeValueError/commandClosureDeallocated`` for
    ///   `nil`.
    @inlinable @_disfavoredOverload @discardableResult
    public func set(
        manualCompletion accessClosure: ((inout Value, @escaping CommandCompletionClosure) throws -> Void)?
    ) -> Result<Value, QueueSafeValueError> {
        guard let accessClosure else { return .failure(.commandClosureDeallocated) }
        return set(accessClosure)
    }

    /// Computes something from the value, or fails if the closure is `nil`.
    ///
    /// - Parameter commandClosure: Called as in `map { current in }`.
    /// - Returns: What the closure returned, or why the command failed:
    ///   ``QueueSafeValueError/commandClosureDeallocated`` for `nil`.
    @inlinable @_disfavoredOverload
    public func map<MappedValue>(
        completion commandClosure: ((Value) throws -> MappedValue)?
    ) -> Result<MappedValue, QueueSafeValueError> {
        guard let commandClosure else { return .failure(.commandClosureDeallocated) }
        return map(commandClosure)
    }
}
