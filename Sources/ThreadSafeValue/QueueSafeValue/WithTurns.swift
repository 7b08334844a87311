//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

/// Calls a closure with several queue-safe values, on the calling thread, while no other command has any of them.
///
/// ```swift
/// withLocked(from, to, priority: .high, timeout: .seconds(1)) { from, to in
///     from -= 10
///     to += 10
/// }
/// ```
///
/// The turns are taken one after the other, in one order everywhere, so threads that name the same values in any order are in
/// no circle. If one is not to be had, those that were taken are given back, and the closure is not called. A value that is named
/// twice is waited for inside its own command: ``QueueSafeValueError/reentrantCommand``.
///
/// - Parameters:
///   - first: a queue-safe value.
///   - second: another one.
///   - priority: how early it gets its turn, in each line.
///   - timeout: for how long it may wait for all turns. `.never` is for ever; with zero or less it takes them only if all are
///     free now.
///   - body: called at most once, with the values, which it may change in place. If it throws, what it changed stays.
/// - Returns: what the closure returned, or why there was no turn, or that the closure threw.
@discardableResult
public func withLocked<First, Second, Answer>(
    _ first: QueueSafeValue<First>,
    _ second: QueueSafeValue<Second>,
    priority: CommandPriority = .lowest,
    timeout: DispatchTimeInterval = .never,
    body: (inout First, inout Second) throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    withTurns(of: [first.queue.storage, second.queue.storage], priority, timeout) {
        try unsafe body(&first.queue.value.pointee, &second.queue.value.pointee)
    }
}

/// Calls a closure with several queue-safe values, on the calling thread, while no other command has any of them.
///
/// As for two values, with three.
///
/// - Parameters:
///   - first: a queue-safe value.
///   - second: another one.
///   - third: another one.
///   - priority: how early it gets its turn, in each line.
///   - timeout: for how long it may wait for all turns.
///   - body: called at most once, with the values, which it may change in place. If it throws, what it changed stays.
/// - Returns: what the closure returned, or why there was no turn, or that the closure threw.
@discardableResult
public func withLocked<First, Second, Third, Answer>(
    _ first: QueueSafeValue<First>,
    _ second: QueueSafeValue<Second>,
    _ third: QueueSafeValue<Third>,
    priority: CommandPriority = .lowest,
    timeout: DispatchTimeInterval = .never,
    body: (inout First, inout Second, inout Third) throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    withTurns(of: [first.queue.storage, second.queue.storage, third.queue.storage], priority, timeout) {
        try unsafe body(&first.queue.value.pointee, &second.queue.value.pointee, &third.queue.value.pointee)
    }
}

/// Calls a closure with any number of queue-safe values of one type, as an array, while no other command has any of them.
///
/// As for two values, for as many as there are at run time.
///
/// - Warning: Crashes if the closure has changed the number of the elements, because then it can't be told which belongs to
///   which value.
/// - Parameters:
///   - values: queue-safe values, each named once.
///   - priority: how early it gets its turn, in each line.
///   - timeout: for how long it may wait for all turns.
///   - body: called at most once, with the values, which it may change in place. If it throws, what it changed stays.
/// - Returns: what the closure returned, or why there was no turn, or that the closure threw.
@discardableResult
public func withLocked<Value, Answer>(
    _ values: [QueueSafeValue<Value>],
    priority: CommandPriority = .lowest,
    timeout: DispatchTimeInterval = .never,
    body: (inout [Value]) throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    withTurns(of: values.map(\.queue.storage), priority, timeout) {
        // Moved out and in again, the values are not copied, so that a collection is changed in place.
        var moved = [Value]()
        moved.reserveCapacity(values.count)
        for value in values { unsafe moved.append(value.queue.value.move()) }
        defer {
            if moved.count != values.count { failCountChanged() }
            for (value, new) in zip(values, moved) { unsafe value.queue.value.initialize(to: new) }
        }
        return try body(&moved)
    }
}

/// Takes the turns of several queues in the one order, runs `body` and gives them back.
private func withTurns<Answer>(
    of queues: [any AnyCommandQueue],
    _ priority: CommandPriority,
    _ timeout: DispatchTimeInterval,
    _ body: () throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    let deadline = Deadline(after: timeout)
    let ordered = queues.sorted { ObjectIdentifier($0) < ObjectIdentifier($1) }
    for (index, queue) in ordered.enumerated() {
        guard let failure = queue.turns.takeTurn(priority, until: deadline) else { continue }
        for taken in ordered[..<index] { taken.turns.giveTurnBack(afterChange: false) }
        return .failure(failure)
    }
    return scope {
        do {
            return .success(try body())
        } catch {
            return .failure(.unexpected(error: error))
        }
    } end: {
        // Listeners are told without any of the turns.
        let deliveries = ordered.map { $0.turns.giveTurnBackToTell(afterChange: true) }
        for delivery in deliveries { delivery?.deliver() }
    }
}
