//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

// The same with a time-out as `Duration`, where the system has it. Disfavored, as both types have `.seconds(1)`.

/// Calls a closure with several queue-safe values, as the form with a `DispatchTimeInterval` does.
///
/// - Parameters:
///   - first: a queue-safe value.
///   - second: another one.
///   - priority: how early it gets its turn, in each line.
///   - timeout: for how long it may wait for all turns.
///   - body: called at most once, with the values, which it may change in place. If it throws, what it changed stays.
/// - Returns: what the closure returned, or why there was no turn, or that the closure threw.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
@discardableResult
@_disfavoredOverload
public func withLocked<First, Second, Answer>(
    _ first: QueueSafeValue<First>,
    _ second: QueueSafeValue<Second>,
    priority: CommandPriority = .lowest,
    timeout: Duration,
    body: (inout First, inout Second) throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    withLocked(first, second, priority: priority, timeout: DispatchTimeInterval(timeout), body: body)
}

/// Calls a closure with several queue-safe values, as the form with a `DispatchTimeInterval` does.
///
/// - Parameters:
///   - first: a queue-safe value.
///   - second: another one.
///   - third: another one.
///   - priority: how early it gets its turn, in each line.
///   - timeout: for how long it may wait for all turns.
///   - body: called at most once, with the values, which it may change in place. If it throws, what it changed stays.
/// - Returns: what the closure returned, or why there was no turn, or that the closure threw.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
@discardableResult
@_disfavoredOverload
public func withLocked<First, Second, Third, Answer>(
    _ first: QueueSafeValue<First>,
    _ second: QueueSafeValue<Second>,
    _ third: QueueSafeValue<Third>,
    priority: CommandPriority = .lowest,
    timeout: Duration,
    body: (inout First, inout Second, inout Third) throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    withLocked(first, second, third, priority: priority, timeout: DispatchTimeInterval(timeout), body: body)
}

/// Calls a closure with any number of queue-safe values of one type, as the form with a `DispatchTimeInterval` does.
///
/// - Warning: Crashes if the closure has changed the number of the elements.
/// - Parameters:
///   - values: queue-safe values, each named once.
///   - priority: how early it gets its turn, in each line.
///   - timeout: for how long it may wait for all turns.
///   - body: called at most once, with the values, which it may change in place. If it throws, what it changed stays.
/// - Returns: what the closure returned, or why there was no turn, or that the closure threw.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
@discardableResult
@_disfavoredOverload
public func withLocked<Value, Answer>(
    _ values: [QueueSafeValue<Value>],
    priority: CommandPriority = .lowest,
    timeout: Duration,
    body: (inout [Value]) throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    withLocked(values, priority: priority, timeout: DispatchTimeInterval(timeout), body: body)
}
