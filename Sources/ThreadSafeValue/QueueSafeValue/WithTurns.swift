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
@inlinable @discardableResult public func withLocked<First: QueueSafeContainer, Second: QueueSafeContainer, Answer>(
    _ first: First,
    _ second: Second,
    priority: CommandPriority = .lowest,
    timeout: DispatchTimeInterval = .never,
    body: (inout First.Value, inout Second.Value) throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    // Each container is asked once, because a container of another module may answer with another value each time.
    let (first, second) = (first.queue, second.queue)
    return withTurns(takeTurns(of: first, second, priority, timeout.waitingNanoseconds)) {
        giveTurnsBack(of: first, second)
    } body: {
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
    return withTurns(takeTurns(of: turns, priority, timeout.waitingNanoseconds)) {
        giveTurnsBack(of: turns)
        withExtendedLifetime((first, second, third)) {}
    } body: {
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
    let turns = queues.map { $0.storage.turns }
    return withTurns(takeTurns(of: turns, priority, timeout.waitingNanoseconds)) {
        giveTurnsBack(of: turns)
        withExtendedLifetime(queues) {}
    } body: {
        try unsafe withMoved(queues.map { unsafe $0.value }, body)
    }
}

/// Runs `body` with turns, unless they were not to be had, and gives them back.
@inlinable @inline(__always) func withTurns<Answer>(
    _ failure: QueueSafeValueError?,
    giveBack: () -> Void,
    body: () throws -> Answer
) -> Result<Answer, QueueSafeValueError> {
    if let failure { return .failure(failure) }
    return scope {
        do {
            return .success(try body())
        } catch {
            return .failure(.unexpected(error: error))
        }
    } end: {
        giveBack()
    }
}

/// Takes two turns, or none. Turns that are free are taken without a list.
@inlinable func takeTurns<First, Second>(
    of first: CommandQueue<First>,
    _ second: CommandQueue<Second>,
    _ priority: CommandPriority,
    _ timeout: UInt64
) -> QueueSafeValueError? {
    // In the one order, so that of two such calls one takes both turns.
    if second.word.address < first.word.address { return takeTurns(of: second, first, priority, timeout) }
    let thread = currentThreadIdentity()
    unsafe schedulingPoint("try of", first.storage, first.word.storage, waits: false)
    if first.word.exchangeAcquiring(TurnWord.idle, for: thread) {
        unsafe schedulingPoint("try of", second.storage, second.word.storage, waits: false)
        if second.word.exchangeAcquiring(TurnWord.idle, for: thread) { return nil }
        first.giveTurnBack(of: thread, afterChange: false)
    }
    return takeTurns(of: [first.storage.turns, second.storage.turns], priority, timeout)
}

/// Gives two turns back.
@inlinable @inline(__always) func giveTurnsBack<First, Second>(
    of first: CommandQueue<First>,
    _ second: CommandQueue<Second>
) {
    let thread = currentThreadIdentity()
    var rest: [TurnQueue] = []
    if !first.word.exchangeReleasing(thread, for: TurnWord.idle) { rest.append(first.storage.turns) }
    if !second.word.exchangeReleasing(thread, for: TurnWord.idle) { rest.append(second.storage.turns) }
    if !rest.isEmpty { giveTurnsBack(of: rest) }
    withExtendedLifetime((first, second)) {}
}

/// Takes all turns, or none.
///
/// - Returns: `nil` with the turns, or the reason why one was not to be had.
@usableFromInline
func takeTurns(of queues: [TurnQueue], _ priority: CommandPriority, _ timeout: UInt64) -> QueueSafeValueError? {
    let ordered = queues.sorted { $0.word.address < $1.word.address }  // fault: turns are taken as named
    // The time-out counts only for a call that had to wait.
    let deadline = Deadline(after: timeout)
    var hasWaited = false
    for (index, queue) in ordered.enumerated() {
        unsafe schedulingPoint("wait for", queue.owner, queue.word.storage)
        var failure = queue.waitForTurn(priority, until: .passed)
        if case .timedOut = failure, timeout != 0 {
            failure = queue.waitForTurn(priority, until: deadline)
            hasWaited = true
        }
        guard let failure else { continue }
        for taken in ordered[..<index] { taken.releaseAndNotify(afterChange: false) }  // fault: some turns stay taken
        return failure
    }
    guard hasWaited, deadline.isOver else { return nil }
    for taken in ordered { taken.releaseAndNotify(afterChange: false) }
    return .timedOut
}

@usableFromInline func giveTurnsBack(of queues: [TurnQueue]) {
    // Listeners are told once all turns are free.
    // fault: told with a turn; told to nobody
    let deliveries = queues.compactMap { unsafe $0.releaseTurn(afterChange: true, $0.owner.recordChange) }
    for delivery in deliveries { delivery.perform() }
}
