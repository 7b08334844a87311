//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

// The same with a time-out as `Duration`, where the system has it. Disfavored, as both types have `.seconds(1)`.

/// Calls a closure with several queue-safe values, as the form with a `DispatchTimeInterval` does.
///
/// - Parameters:
///   - first: A queue-safe value.
///   - second: Another one.
///   - priority: How early it gets its turn, in each line.
///   - timeout: For how long it may wait for all turns.
///   - body: Called at most once, with the values, which it may change in place. If it throws, what it changed stays.
/// - Returns: What the closure returned, or why there was no turn, or that the closure threw.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
@inlinable
@discardableResult
@_disfavoredOverload
public func withLocked<First: QueueSafeContainer, Second: QueueSafeContainer, Answer>(
    _ first: First,
    _ second: Second,
    priority: CommandPriority = .lowest,
    timeout: Duration,
    body: (inout First.Value, inout Second.Value) throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    withLocked(first, second, priority: priority, timeout: DispatchTimeInterval(timeout), body: body)
}

/// Calls a closure with several queue-safe values, as the form with a `DispatchTimeInterval` does.
///
/// - Parameters:
///   - first: A queue-safe value.
///   - second: Another one.
///   - third: Another one.
///   - priority: How early it gets its turn, in each line.
///   - timeout: For how long it may wait for all turns.
///   - body: Called at most once, with the values, which it may change in place. If it throws, what it changed stays.
/// - Returns: What the closure returned, or why there was no turn, or that the closure threw.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
@inlinable
@discardableResult
@_disfavoredOverload
public func withLocked<First: QueueSafeContainer, Second: QueueSafeContainer, Third: QueueSafeContainer, Answer>(
    _ first: First,
    _ second: Second,
    _ third: Third,
    priority: CommandPriority = .lowest,
    timeout: Duration,
    body: (inout First.Value, inout Second.Value, inout Third.Value) throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    withLocked(first, second, third, priority: priority, timeout: DispatchTimeInterval(timeout), body: body)
}

/// Calls a closure with any number of queue-safe values of one type, as the form with a `DispatchTimeInterval` does.
///
/// - Warning: Crashes if the closure has changed the number of the elements.
/// - Parameters:
///   - values: Queue-safe values, each named once.
///   - priority: How early it gets its turn, in each line.
///   - timeout: For how long it may wait for all turns.
///   - body: Called at most once, with the values, which it may change in place. If it throws, what it changed stays.
/// - Returns: What the closure returned, or why there was no turn, or that the closure threw.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
@inlinable
@discardableResult
@_disfavoredOverload
public func withLocked<Container: QueueSafeContainer, Answer>(
    _ values: [Container],
    priority: CommandPriority = .lowest,
    timeout: Duration,
    body: (inout [Container.Value]) throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    withLocked(values, priority: priority, timeout: DispatchTimeInterval(timeout), body: body)
}
