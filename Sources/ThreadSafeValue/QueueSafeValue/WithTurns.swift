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
/// The turns are taken one after the other, in one order everywhere, so such calls never wait for each other in a circle,
/// in whatever order they name the values. Commands that you nest by hand may close a circle with them. If one turn is
/// not to be had, the others are given back, and the closure is not called. If you name a value twice, the answer is
/// ``QueueSafeValueError/reentrantCommand``.
///
/// - Parameters:
///   - first: A queue-safe value.
///   - second: Another queue-safe value.
///   - priority: How early the call gets each of its turns.
///   - timeout: For how long the call may wait for all turns. `.never` is for ever. With zero or less, it takes the turns
///     only if all are free now.
///   - body: Called at most once, with the values, which it may change in place. If it throws, its changes stay.
/// - Returns: The result of the closure, or the reason why there is none.
@inlinable @discardableResult
public func withLocked<First: QueueSafeContainer, Second: QueueSafeContainer, Answer>(
    _ first: First,
    _ second: Second,
    priority: CommandPriority = .lowest,
    timeout: DispatchTimeInterval = .never,
    body: (inout First.Value, inout Second.Value) throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    // Each container is asked once, because a container of another module may answer with another value each time.
    let (first, second) = (first.queue, second.queue)
    return withTurns(of: [first.storage.turns, second.storage.turns], keeping: (first, second), priority, timeout) {
        try unsafe body(&first.value.pointee, &second.value.pointee)
    }
}

/// Calls a closure with several queue-safe values, on the calling thread, while no other command has any of them.
///
/// This works as with two values.
///
/// - Parameters:
///   - first: A queue-safe value.
///   - second: Another queue-safe value.
///   - third: Another queue-safe value.
///   - priority: How early the call gets each of its turns.
///   - timeout: For how long the call may wait for all turns.
///   - body: Called at most once, with the values, which it may change in place. If it throws, its changes stay.
/// - Returns: The result of the closure, or the reason why there is none.
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
    let turns = [first.storage.turns, second.storage.turns, third.storage.turns]
    return withTurns(of: turns, keeping: (first, second, third), priority, timeout) {
        try unsafe body(&first.value.pointee, &second.value.pointee, &third.value.pointee)
    }
}

/// Calls a closure with any number of queue-safe values of one type, as an array, while no other command has any of
/// them.
///
/// This works as with two values.
///
/// - Warning: The program crashes if the closure changes the number of elements, because then no rule says which element
///   belongs to which value.
/// - Parameters:
///   - values: Queue-safe values, each of which is named once.
///   - priority: How early the call gets each of its turns.
///   - timeout: For how long the call may wait for all turns.
///   - body: Called at most once, with the values, which it may change in place. If it throws, its changes stay.
/// - Returns: The result of the closure, or the reason why there is none.
@inlinable @discardableResult public func withLocked<Container: QueueSafeContainer, Answer>(
    _ values: [Container],
    priority: CommandPriority = .lowest,
    timeout: DispatchTimeInterval = .never,
    body: (inout [Container.Value]) throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    // Closures, because a generic key path is made anew for each call.
    let queues = values.map { $0.queue }
    return withTurns(of: queues.map { $0.storage.turns }, keeping: queues, priority, timeout) {
        // The values are moved out and in again. They are not copied, so a collection is changed in place.
        var moved = [Container.Value]()
        moved.reserveCapacity(queues.count)
        for queue in queues { unsafe moved.append(queue.value.move()) }
        defer {
            if moved.count != queues.count { failCountChanged() }
            // The loop makes no pairs, which would copy a large value over the stack.
            for index in queues.indices { unsafe queues[index].value.initialize(to: moved[index]) }
        }
        return try body(&moved)
    }
}

/// Takes the turns of several queues in the one order, runs `body` and gives the turns back. `kept` keeps the queues.
@inlinable func withTurns<Kept, Answer>(
    of queues: [TurnQueue],
    keeping kept: Kept,
    _ priority: CommandPriority,
    _ timeout: DispatchTimeInterval,
    _ body: () throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    if let failure = takeTurns(of: queues, priority, timeout.waitingNanoseconds) { return .failure(failure) }
    return scope {
        do {
            return .success(try body())
        } catch {
            return .failure(.unexpected(error: error))
        }
    } end: {
        giveTurnsBack(of: queues)
        withExtendedLifetime(kept) {}
    }
}

/// Takes all turns, or none.
///
/// - Returns: `nil` with the turns, or the reason why one was not to be had.
@usableFromInline
func takeTurns(of queues: [TurnQueue], _ priority: CommandPriority, _ timeout: UInt64) -> QueueSafeValueError? {
    let ordered = queues.sorted { $0.word.address < $1.word.address }  // fault: turns are taken as named
    // The time begins with the first wait: turns that are free are had in no time.
    var deadline: Deadline?
    for (index, queue) in ordered.enumerated() {
        unsafe schedulingPoint("wait for", queue.owner, queue.word.storage)
        var failure = queue.waitForTurn(priority, until: .passed)
        if case .timedOut = failure, timeout != 0 {
            let end = deadline ?? Deadline(after: timeout)
            failure = queue.waitForTurn(priority, until: end)
            deadline = end
        }
        guard let failure else { continue }
        for taken in ordered[..<index] { taken.releaseAndNotify(afterChange: false) }  // fault: some turns stay taken
        return failure
    }
    guard let deadline, deadline.isTime, deadline.hasPassed else { return nil }
    for taken in ordered { taken.releaseAndNotify(afterChange: false) }
    return .timedOut
}

@usableFromInline func giveTurnsBack(of queues: [TurnQueue]) {
    // Listeners are told once all turns are free.
    // fault: told with a turn; told to nobody
    let deliveries = queues.compactMap { $0.releaseTurn(afterChange: true) }
    for delivery in deliveries { delivery.perform() }
}
