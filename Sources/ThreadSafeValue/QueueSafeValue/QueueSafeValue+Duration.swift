//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

// Time-outs as `Duration`, where the system has it. Disfavored, as both types have `.seconds(1)`.

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension QueueSafeValue {
    /// Commands that run on the calling thread, which waits for its turn for a limited time.
    ///
    /// - Parameter timeout: For how long a command may wait; with zero or less it takes the turn only if it is free
    ///   now.
    /// - Returns: A schedule, on which to choose a priority.
    @inlinable
    @_disfavoredOverload
    public func wait(timeout: Duration) -> TimedWaitSchedule<Value> {
        wait(timeout: DispatchTimeInterval(timeout))
    }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension QueueSafeValue where Value: Sendable {
    /// Commands that a task awaits for a limited time.
    ///
    /// - Parameter timeout: For how long a command may wait; with zero or less it takes the turn only if it is free
    ///   now.
    /// - Returns: A schedule, on which to choose a priority.
    @inlinable
    @_disfavoredOverload
    public func async(timeout: Duration) -> AwaitSchedule<Value> {
        async(timeout: DispatchTimeInterval(timeout))
    }
}
