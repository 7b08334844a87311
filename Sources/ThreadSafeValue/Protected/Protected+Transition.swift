//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A state that says which states may follow it.
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
    /// Returns whether a state may follow this one.
    ///
    /// The thread that attempts the transition calls this under the lock, so don't use the handle here.
    ///
    /// - Parameter next: The state that would follow.
    /// - Returns: `true` if the transition is allowed.
    func canTransition(to next: Self) -> Bool
}

extension Protected where Value: Transitionable {
    /// Changes the state in one atomic step, if the new state may follow the current one.
    ///
    /// If several threads attempt a transition that is possible only once, one of them succeeds.
    ///
    /// - Parameter next: The new state.
    /// - Returns: `true` if the state is `next` now; `false` if nothing has changed.
    @inlinable public func attemptToTransition(to next: Value) -> Bool {
        transition(to: next, if: { $0.canTransition(to: $1) }, exchange: { swap(&$0, &$1) })
    }
}

extension Protected {
    /// Changes a state inside the value in one atomic step, if the new state may follow the current one.
    ///
    /// If several threads attempt a transition that is possible only once, one of them succeeds.
    ///
    /// - Parameters:
    ///   - state: The path to the state. It must not lead through another handle or through an `@Protected` member. The
    ///     lock of that member would be taken once for the test and once more for the change.
    ///   - next: The new state.
    /// - Returns: `true` if the state is `next` now; `false` if nothing has changed.
    @inlinable public func attemptToTransition<State: Transitionable>(
        _ state: WritableKeyPath<Value, State>,
        to next: State
    ) -> Bool {
        transition(
            to: next,
            if: { $0[keyPath: state].canTransition(to: $1) },
            exchange: { swap(&$0[keyPath: state], &$1) }
        )
    }

    @inlinable @inline(__always) func transition<State>(
        to next: State,
        if isAllowed: (Value, State) -> Bool,
        exchange: (inout Value, inout State) -> Void
    ) -> Bool {
        var other = next
        storage.lock()
        guard unsafe isAllowed(storage.value.pointee, other) else {  // fault: every transition is allowed
            storage.unlock()
            return false
        }
        unsafe exchange(&storage.value.pointee, &other)
        storage.commit()
        // The old state is released here, where its `deinit` may use the new one.
        _fixLifetime(other)
        return true
    }
}
