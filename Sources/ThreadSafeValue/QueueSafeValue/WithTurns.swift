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
/// The turns are taken one after the other, in one order everywhere, so calls that name the same values in any order
/// are in no circle; with commands that are nested by hand they may be. If one is not to be had, those that were taken
/// are given back, and the closure is not called. A value that is named twice is waited for inside its own command:
/// ``QueueSafeValueError/reentrantCommand``.
///
/// - Parameters:
///   - first: A queue-safe value.
///   - second: Another one.
///   - priority: How early it gets its turn, in each line.
///   - timeout: For how long it may wait for all turns. `.never` is for ever; with zero or less it takes them only if
///     all are free now.
///   - body: Called at most once, with the values, which it may change in place. If it throws, what it changed stays.
/// - Returns: What the closure returned, or why there was no turn, or that the closure threw.
@inlinable @discardableResult
public func withLocked<First: QueueSafeContainer, Second: QueueSafeContainer, Answer>(
    _ first: First,
    _ second: Second,
    priority: CommandPriority = .lowest,
    timeout: DispatchTimeInterval = .never,
    body: (inout First.Value, inout Second.Value) throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    // Each is asked once: a container of one's own may answer with another value each time.
    let (first, second) = (first.queue, second.queue)
    return withExtendedLifetime((first, second)) {
        withTurns(of: [first.storage.turns, second.storage.turns], priority, timeout) {
            try unsafe body(&first.value.pointee, &second.value.pointee)
        }
    }
}

/// Calls a closure with several queue-safe values, on the calling thread, while no other command has any of them.
///
/// As for two values, with three.
///
/// - Parameters:
///   - first: A queue-safe value.
///   - second: Another one.
///   - third: Another one.
///   - priority: How early it gets its turn, in each line.
///   - timeout: For how long it may wait for all turns.
///   - body: Called at most once, with the values, which it may change in place. If it throws, what it changed stays.
/// - Returns: What the closure returned, or why there was no turn, or that the closure threw.
@inlinable @discardableResult
public func withLocked<First: QueueSafeContainer, Second: QueueSafeContainer, Third: QueueSafeContainer, Answer>(
    _ first: First,
    _ second: Second,
    _ third: Third,
    priority: CommandPriority = .lowest,
    timeout: DispatchTimeInterval = .never,
    body: (inout First.Value, inout Second.Value, inout Third.Value) throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    let (first, second, third) = (first.queue, second.queue, third.queue)
    return withExtendedLifetime((first, second, third)) {
        withTurns(of: [first.storage.turns, second.storage.turns, third.storage.turns], priority, timeout) {
            try unsafe body(&first.value.pointee, &second.value.pointee, &third.value.pointee)
        }
    }
}

/// Calls a closure with any number of queue-safe values of one type, as an array, while no other command has any of
/// them.
///
/// As for two values, for as many as there are at run time.
///
/// - Warning: Crashes if the closure has changed the number of the elements, because then it can't be told which
///   belongs to which value.
/// - Parameters:
///   - values: Queue-safe values, each named once.
///   - priority: How early it gets its turn, in each line.
///   - timeout: For how long it may wait for all turns.
///   - body: Called at most once, with the values, which it may change in place. If it throws, what it changed stays.
/// - Returns: What the closure returned, or why there was no turn, or that the closure threw.
@inlinable @discardableResult
public func withLocked<Container: QueueSafeContainer, Answer>(
    _ values: [Container],
    priority: CommandPriority = .lowest,
    timeout: DispatchTimeInterval = .never,
    body: (inout [Container.Value]) throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    // Closures, as a generic key path is made anew for each call.
    let queues = values.map { $0.queue }
    return withExtendedLifetime(queues) {
        withTurns(of: queues.map { $0.storage.turns }, priority, timeout) {
            // Moved out and in again, the values are not copied, so that a collection is changed in place.
            var moved = [Container.Value]()
            moved.reserveCapacity(queues.count)
            for queue in queues { unsafe moved.append(queue.value.move()) }
            defer {
                if moved.count != queues.count { failCountChanged() }
                // Not in pairs: a large value would go over the stack.
                for index in queues.indices { unsafe queues[index].value.initialize(to: moved[index]) }
            }
            return try body(&moved)
        }
    }
}

/// Takes the turns of several queues in the one order, runs `body` and gives them back. Keep the queues meanwhile.
@inlinable
func withTurns<Answer>(
    of queues: [TurnQueue],
    _ priority: CommandPriority,
    _ timeout: DispatchTimeInterval,
    _ body: () throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    if let failure = takeTurns(of: queues, priority, until: Deadline(after: timeout)) { return .failure(failure) }
    return scope {
        do {
            return .success(try body())
        } catch {
            return .failure(.unexpected(error: error))
        }
    } end: {
        giveTurnsBack(of: queues)
    }
}

/// Takes all turns, or none.
///
/// - Returns: `nil` with the turns, or why one was not to be had.
@usableFromInline
func takeTurns(
    of queues: [TurnQueue],
    _ priority: CommandPriority,
    until deadline: Deadline
) -> QueueSafeValueError? {
    let ordered = queues.sorted { $0.word.address < $1.word.address }
    for (index, queue) in ordered.enumerated() {
        unsafe schedulingPoint("wait for", queue.owner, queue.word.storage)
        guard let failure = queue.waitForTurn(priority, deadline.remaining) else { continue }
        for taken in ordered[..<index] { taken.giveTurnBack(afterChange: false) }
        return failure
    }
    return nil
}

@usableFromInline
func giveTurnsBack(of queues: [TurnQueue]) {
    // Listeners are told without any of the turns.
    let deliveries = queues.compactMap { $0.giveTurnBackToTell(afterChange: true) }
    for delivery in deliveries { delivery.perform() }
}
