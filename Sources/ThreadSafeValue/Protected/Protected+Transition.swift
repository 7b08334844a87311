//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A state that knows which states may follow it.
///
/// ```swift
/// enum Download: Transitionable {
///     case waiting, running, finished
///
///     func canTransition(to next: Download) -> Bool {
///         switch (self, next) {
///         case (.waiting, .running), (.running, .finished): true
///         default: false
///         }
///     }
/// }
/// ```
public protocol Transitionable {
    /// Tells whether a state may follow this one.
    ///
    /// - Parameter next: The state that would follow.
    /// - Returns: Whether it may.
    func canTransition(to next: Self) -> Bool
}

extension Protected where Value: Transitionable {
    /// Goes to another state if that one may follow, in one atomic step.
    ///
    /// Of several threads that attempt a step which only one may take, one succeeds.
    ///
    /// - Parameter next: The state to go to.
    /// - Returns: Whether it is the state now. If not, nothing has changed.
    @inlinable
    public func attemptToTransition(to next: Value) -> Bool {
        attemptToTransition(\.self, to: next)
    }
}

extension Protected {
    /// Takes a state inside the value to another one if that may follow, in one atomic step.
    ///
    /// Of several threads that attempt a step which only one may take, one succeeds.
    ///
    /// - Parameters:
    ///   - state: Where in the value the state is. Not behind another handle or an `@Protected` member in it, whose
    ///     lock would be taken twice: for the test, and for the step.
    ///   - next: The state to go to.
    /// - Returns: Whether it is the state now. If not, nothing has changed.
    @inlinable
    public func attemptToTransition<State: Transitionable>(
        _ state: WritableKeyPath<Value, State>,
        to next: State
    ) -> Bool {
        var other = next
        lock()
        guard unsafe place.pointee[keyPath: state].canTransition(to: next) else {  // fault: every transition is allowed
            unlock()
            return false
        }
        unsafe swap(&place.pointee[keyPath: state], &other)
        commit()
        // The old state goes away here, where its `deinit` may use the new one.
        withExtendedLifetime(other) {}
        return true
    }
}
