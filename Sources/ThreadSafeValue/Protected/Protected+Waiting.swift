//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// The import is public, because time-outs have a type of the module.
public import Dispatch

extension Protected {
    /// Calls a closure with the value if nobody else is accessing it, and never waits.
    ///
    /// - Parameter body: The access to the value, on the calling thread, while nobody can change the value.
    /// - Returns: The result of the closure; `nil` if the closure was not called because a thread was accessing the value,
    ///   perhaps the calling one.
    /// - Throws: The error of the closure.
    @inlinable public func tryRead<Result: ~Copyable, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard storage.tryLock() else { return nil }
        return try readAndUnlock(body)
    }

    /// Calls a closure that may change the value if nobody else is accessing it, and never waits.
    ///
    /// - Parameter body: The access to the value, on the calling thread, while nobody else can access the value.
    /// - Returns: The result of the closure; `nil` if the closure was not called because a thread was accessing the value,
    ///   perhaps the calling one.
    /// - Throws: The error of the closure.
    @inlinable public func tryWrite<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard storage.tryLock() else { return nil }
        return try writeAndUnlock(body)
    }

    /// Calls a closure that may change the value, if the lock is to be had in time.
    ///
    /// ```swift
    /// let isCounted = visits.write(timeout: .milliseconds(50)) { $0 += 1 } != nil
    /// ```
    ///
    /// The result is an optional, as with ``tryWrite(_:)``, so that an error is always one of the closure.
    ///
    /// - Note: Apple systems have a lock of their own. When it is free, another thread may take it first, perhaps the thread
    ///   that just had it. So the time may end although the lock was free, and the waiting thread lends no priority.
    /// - Warning: The program crashes if the calling thread is already accessing the value, unless the time-out is zero.
    /// - Parameters:
    ///   - timeout: For how long to wait for the lock, not for the closure. With zero or less, the lock is tried once.
    ///     `.never` waits for ever.
    ///   - body: The access to the value, on the calling thread, while nobody else can access the value.
    /// - Returns: The result of the closure; `nil` if the time ended first, and the closure is never called.
    /// - Throws: The error of the closure.
    @inlinable public func write<Result: ~Copyable, Failure: Error>(
        timeout: DispatchTimeInterval,
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard storage.tryLock() || storage.lock(until: Deadline(after: timeout)) else { return nil }
        return try writeAndUnlock(body)
    }

    /// Blocks the thread until the value meets a condition, which is tested now and after every change.
    ///
    /// ```swift
    /// state.wait { $0 == .ready }
    /// guard state.wait(until: { $0 == .ready }, timeout: .seconds(5)) else { return }
    /// ```
    ///
    /// No change is missed. Other threads may change the value again before this thread goes on.
    ///
    /// - Note: On Apple systems, the time may end although the lock was free, as with ``write(timeout:_:)``.
    /// - Warning: The thread that changes the value tests the condition under the lock. So the condition must be quick. It
    ///   must not access this value, nor another protected value, whose lock that thread may hold. The program crashes if
    ///   the calling thread is already accessing the value, unless the time-out is zero.
    /// - Parameters:
    ///   - condition: The condition. Another thread may still test it while this method returns.
    ///   - timeout: For how long to wait. With zero or less, the condition is tested once, if nobody is accessing the value.
    ///     `.never` waits for ever.
    /// - Returns: `true` if the value met the condition in time.
    @discardableResult
    @available(*, noasync, message: "It blocks the thread. Use `try await wait(until:)`, which a cancellation ends.")
    public func wait(
        until condition: @escaping @Sendable (Value) -> Bool,
        timeout: DispatchTimeInterval = .never
    ) -> Bool {
        storage.wait(until: condition, by: Deadline(after: timeout))
    }

    /// Blocks the thread until the value meets a condition, and changes the value in the same access.
    ///
    /// ```swift
    /// let job = jobs.write(when: { !$0.isEmpty }) { $0.removeFirst() }
    /// ```
    ///
    /// - Warning: Other threads test the condition under the lock, as with ``wait(until:timeout:)``. The program crashes if
    ///   the calling thread is already accessing the value.
    /// - Parameters:
    ///   - condition: The condition.
    ///   - body: The access to the value, on the calling thread, while nobody else can access the value.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    @inlinable @available(*, noasync, message: "It blocks the thread. Use `try await write(when:)`.")
    public func write<Result: ~Copyable, Failure: Error>(
        when condition: @escaping @Sendable (Value) -> Bool,
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // A wait without a time-out ends with the change.
        try write(when: condition, timeout: .never, body)!
    }

    /// Blocks the thread until the value meets a condition, and changes the value in the same access, if there is time.
    ///
    /// - Note: On Apple systems, the time may end although the lock was free, as with ``write(timeout:_:)``.
    /// - Warning: Other threads test the condition under the lock, as with ``wait(until:timeout:)``. The program crashes if
    ///   the calling thread is already accessing the value, unless the time-out is zero.
    /// - Parameters:
    ///   - condition: The condition.
    ///   - timeout: For how long to wait for the condition, not for the closure. With zero or less, the condition is tested
    ///     once. `.never` waits for ever.
    ///   - body: The access to the value, on the calling thread, while nobody else can access the value.
    /// - Returns: The result of the closure; `nil` if the time ended first, and the closure is never called.
    /// - Throws: The error of the closure.
    @inlinable @available(*, noasync, message: "It blocks the thread. Use `try await write(when:timeout:)`.")
    public func write<Result: ~Copyable, Failure: Error>(
        when condition: @escaping @Sendable (Value) -> Bool,
        timeout: DispatchTimeInterval,
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard storage.lock(when: condition, by: Deadline(after: timeout)) else { return nil }
        return try writeAndUnlock(body)
    }
}

extension Protected where Value: Sendable {
    /// Suspends the task until the value meets a condition, which is tested now and after every change.
    ///
    /// ```swift
    /// try await state.wait { $0 == .ready }
    /// ```
    ///
    /// No thread waits. The value may have changed again before the task goes on.
    ///
    /// - Warning: The thread that changes the value tests the condition under the lock. So the condition must be quick. It
    ///   must not access this value, nor another protected value, whose lock that thread may hold.
    /// - Parameter condition: The condition.
    /// - Throws: `CancellationError` if the task is cancelled, which ends the wait at once.
    public func wait(until condition: @escaping @Sendable (Value) -> Bool) async throws(CancellationError) {
        await storage.wait(until: condition)
        if Task.isCancelled { throw CancellationError() }
    }

    /// Suspends the task until the value meets a condition, and changes the value in the same access.
    ///
    /// ```swift
    /// let job = try await jobs.write(when: { !$0.isEmpty }) { $0.removeFirst() }
    /// ```
    ///
    /// No thread waits. A change wakes the first task whose condition is met. That task wakes the next one when it has
    /// changed the value, finds the condition unmet, or gives up. If it takes long to come, the next one is woken. A task that
    /// does not wait yet may go first.
    ///
    /// - Warning: Any user of the value may test the condition under the lock, and so may a thread of the library. So the
    ///   condition must be quick. It must not access this value, nor another protected value, whose lock that thread may
    ///   hold.
    /// - Parameters:
    ///   - condition: The condition.
    ///   - body: The access to the value, in the task, while nobody else can access the value.
    /// - Returns: The result of the closure.
    /// - Throws: `CancellationError` if the task is cancelled before the closure is called, or the error of the closure.
    nonisolated(nonsending) public func write<Result: ~Copyable>(
        when condition: @escaping @Sendable (Value) -> Bool,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        // A wait without a time-out ends with the change, or throws.
        try await write(when: condition, timeout: .never, body)!
    }

    /// Suspends the task until the value meets a condition, and changes the value in the same access, if there is time.
    ///
    /// ```swift
    /// let connection = try await idle.write(when: { !$0.isEmpty }, timeout: .seconds(5)) { $0.removeLast() }
    /// ```
    ///
    /// The task waits as it does without a time-out, and no thread waits.
    ///
    /// - Parameters:
    ///   - condition: The condition.
    ///   - timeout: For how long to wait for the condition, not for the closure. With zero or less, the condition is tested
    ///     once. `.never` waits for ever.
    ///   - body: The access to the value, in the task, while nobody else can access the value.
    /// - Returns: The result of the closure; `nil` if the time ended first, and the closure is never called.
    /// - Throws: `CancellationError` if the task is cancelled before the closure is called, or the error of the closure.
    nonisolated(nonsending) public func write<Result: ~Copyable>(
        when condition: @escaping @Sendable (Value) -> Bool,
        timeout: DispatchTimeInterval,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result? {
        let deadline = Deadline(after: timeout)
        // A condition in the table, and a stream with one element for each wake-up. The stream ends when the time is over, or
        // the task is cancelled.
        var waiting: (condition: Condition<Value>, wakes: AsyncStream<Void>.Iterator)?
        var timer: LibraryTimer?
        defer { timer?.cancel() }
        repeat {
            guard storage.lock(until: deadline) else { break }
            let known = waiting?.condition
            let isMet = if let known { storage.goesOn(known) } else { unsafe condition(storage.value.pointee) }
            // The task may be cancelled while the condition is tested.
            let isCancelled = Task.isCancelled  // fault: a cancelled task changes it
            let mayChange = !isCancelled && !deadline.isOver  // fault: out of time, a task changes it
            if isMet, mayChange { return try writeAndUnlock(body) }  // fault: a task changes what is not met
            if known != nil || !mayChange || deadline == .passed {
                if known == nil { storage.unlock() } else { storage.unlockAskingOn() }
                continue
            }
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            let new = Condition(.changesInTask, condition) { awaitedTarget.async { continuation.yield() } }
            storage.table.add(new)
            storage.unlock()
            if deadline.isTime { timer = LibraryTimer.set(at: deadline.time, continuation.finish) }
            waiting = (new, stream.makeAsyncIterator())
        } while await waiting?.wakes.next() != nil
        if let waiting { storage.leave(waiting.condition) }
        if Task.isCancelled { throw CancellationError() }
        return nil
    }
}
