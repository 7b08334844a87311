//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// The same commands with closures that may be `nil`. Such a closure escapes, so a closure in braces takes the other form.

extension WaitCommands {
    /// Reads the value in a closure, or does nothing if it is `nil`.
    ///
    /// - Parameter commandClosure: called as in `get(completion:)`.
    @inlinable
    @_disfavoredOverload
    public func get(completion commandClosure: ((Result<CurrentValue, QueueSafeValueError>) -> Void)?) {
        if let commandClosure { get(completion: commandClosure) }
    }

    /// Reads the value in a closure that must call `done`, or fails if it is `nil`.
    ///
    /// - Parameter commandClosure: called as in `get(manualCompletion:)`.
    /// - Returns: the value, or why the command failed: ``QueueSafeValueError/commandClosureDeallocated`` for `nil`.
    @inlinable
    @_disfavoredOverload
    @discardableResult
    public func get(
        manualCompletion commandClosure: (
            (Result<CurrentValue, QueueSafeValueError>, @escaping CommandCompletionClosure) -> Void
        )?
    ) -> Result<CurrentValue, QueueSafeValueError> {
        guard let commandClosure else { return .failure(.commandClosureDeallocated) }
        return get(manualCompletion: commandClosure)
    }

    /// Changes the value in place, or fails if the closure is `nil`.
    ///
    /// - Parameter accessClosure: called as in `set(completion:)`.
    /// - Returns: the updated value, or why the command failed: ``QueueSafeValueError/commandClosureDeallocated`` for `nil`.
    @inlinable
    @_disfavoredOverload
    @discardableResult
    public func set(
        completion accessClosure: ((inout CurrentValue) throws -> Void)?
    ) -> Result<UpdatedValue, QueueSafeValueError> {
        guard let accessClosure else { return .failure(.commandClosureDeallocated) }
        return set(completion: accessClosure)
    }

    /// Changes the value in place in a closure that must call `done`, or fails if it is `nil`.
    ///
    /// - Parameter accessClosure: called as in `set(manualCompletion:)`.
    /// - Returns: the updated value, or why the command failed: ``QueueSafeValueError/commandClosureDeallocated`` for `nil`.
    @inlinable
    @_disfavoredOverload
    @discardableResult
    public func set(
        manualCompletion accessClosure: ((inout CurrentValue, @escaping CommandCompletionClosure) throws -> Void)?
    ) -> Result<UpdatedValue, QueueSafeValueError> {
        guard let accessClosure else { return .failure(.commandClosureDeallocated) }
        return set(manualCompletion: accessClosure)
    }

    /// Computes something from the value, or fails if the closure is `nil`.
    ///
    /// - Parameter commandClosure: called as in `map(completion:)`.
    /// - Returns: what the closure returned, or why the command failed: ``QueueSafeValueError/commandClosureDeallocated``
    ///   for `nil`.
    @inlinable
    @_disfavoredOverload
    public func map<MappedValue>(
        completion commandClosure: ((CurrentValue) throws -> MappedValue)?
    ) -> Result<MappedValue, QueueSafeValueError> {
        guard let commandClosure else { return .failure(.commandClosureDeallocated) }
        return map(completion: commandClosure)
    }
}
