//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// These are the same commands with the labels of the original framework, and with closures that may be `nil`. They are
// disfavored, so that a trailing closure takes the form without a label, and need not escape.

extension WaitCommands {
    /// Reads the value in a closure, or does nothing if the closure is `nil`.
    ///
    /// - Parameter commandClosure: The closure, which is called as in `get { result in }`.
    @inlinable @_disfavoredOverload
    public func get(completion commandClosure: ((Result<Value, QueueSafeValueError>) -> Void)?) {
        if let commandClosure { get(commandClosure) }
    }

    /// Reads the value in a closure that must call `done`, or fails if the closure is `nil`.
    ///
    /// - Parameter commandClosure: The closure, which is called as in `get { result, done in }`.
    /// - Returns: The value, or the reason why the command failed. If the closure is `nil`, that is
    ///   ``QueueSafeValueError/commandClosureDeallocated``.
    @inlinable @_disfavoredOverload @discardableResult public func get(
        manualCompletion commandClosure: (
            (Result<Value, QueueSafeValueError>, @escaping CommandCompletionClosure) -> Void
        )?
    ) -> Result<Value, QueueSafeValueError> {
        commandClosure.map { get($0) } ?? .failure(.commandClosureDeallocated)
    }

    /// Changes the value in place, or fails if the closure is `nil`.
    ///
    /// - Parameter accessClosure: The closure, which is called as in `set { current in }`.
    /// - Returns: The updated value, or the reason why the command failed. If the closure is `nil`, that is
    ///   ``QueueSafeValueError/commandClosureDeallocated``.
    @inlinable @_disfavoredOverload @discardableResult
    public func set(completion accessClosure: ((inout Value) throws -> Void)?) -> Result<Value, QueueSafeValueError> {
        accessClosure.map { set($0) } ?? .failure(.commandClosureDeallocated)
    }

    /// Changes the value in place in a closure that must call `done`, or fails if the closure is `nil`.
    ///
    /// - Parameter accessClosure: The closure, which is called as in `set { current, done in }`.
    /// - Returns: The updated value, or the reason why the command failed. If the closure is `nil`, that is
    ///   ``QueueSafeValueError/commandClosureDeallocated``.
    @inlinable @_disfavoredOverload @discardableResult public func set(
        manualCompletion accessClosure: ((inout Value, @escaping CommandCompletionClosure) throws -> Void)?
    ) -> Result<Value, QueueSafeValueError> {
        accessClosure.map { set($0) } ?? .failure(.commandClosureDeallocated)
    }

    /// Computes something from the value, or fails if the closure is `nil`.
    ///
    /// - Parameter commandClosure: The closure, which is called as in `map { current in }`.
    /// - Returns: The result of the closure, or the reason why the command failed. If the closure is `nil`, that is
    ///   ``QueueSafeValueError/commandClosureDeallocated``.
    @inlinable @_disfavoredOverload public func map<MappedValue>(
        completion commandClosure: ((Value) throws -> MappedValue)?
    ) -> Result<MappedValue, QueueSafeValueError> {
        commandClosure.map { map($0) } ?? .failure(.commandClosureDeallocated)
    }
}
