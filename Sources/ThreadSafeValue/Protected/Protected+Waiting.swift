//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Public, because time-outs are given in its type.
public import Dispatch

extension Protected {
    /// Calls a closure with the value if nobody else is accessing it, and never waits.
    ///
    /// - Parameter body: What to do with the value, on the calling thread, while nobody can change it.
    /// - Returns: What the closure returns; `nil` if it was not called, because the value was being accessed, be it by
    ///   the calling thread itself.
    /// - Throws: What the closure throws.
    @inlinable
    public func tryRead<Result: ~Copyable, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard storage.tryLock() else { return nil }
        return try readAndUnlock(body)
    }

    /// Calls a closure that may change the value if nobody else is accessing it, and never waits.
    ///
    /// - Parameter body: What to do with the value, on the calling thread, while nobody else can access it.
    /// - Returns: What the closure returns; `nil` if it was not called, because the value was being accessed, be it by
    ///   the calling thread itself.
    /// - Throws: What the closure throws.
    @inlinable
    public func tryWrite<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard storage.tryLock() else { return nil }
        return try writeAndUnlock(body)
    }

    /// Calls a closure that may change the value, unless its turn does not come in time.
    ///
    /// ```swift
    /// let isCounted = visits.write(timeout: .milliseconds(50)) { $0 += 1 } != nil
    /// ```
    ///
    /// There is one way not to succeed, and the closure has its own errors; so the answer is an optional, as with
    /// ``tryWrite(_:)``, and what the closure throws is thrown.
    ///
    /// - Note: On Apple systems the lock is the system's. Whenever it is free, another thread may take it first, be it
    ///   the one that just had it. So the time may be over though the lock was free, and the wait lends no priority.
    /// - Warning: Crashes if the calling thread is accessing the value already, unless the time-out is zero.
    /// - Parameters:
    ///   - timeout: How long to wait for the turn, not for the closure. With zero or less it is tried once; `.never`
    ///     waits for as long as it takes.
    ///   - body: What to do with the value, on the calling thread, while nobody else can access it.
    /// - Returns: What the closure returns; `nil` if it was not called, and never will be.
    /// - Throws: What the closure throws.
    @inlinable
    public func write<Result: ~Copyable, Failure: Error>(
        timeout: DispatchTimeInterval,
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard storage.tryLock() || storage.lock(until: Deadline(after: timeout)) else { return nil }
        return try writeAndUnlock(body)
    }

    /// Waits until the value meets a condition, which is tested now and after every change, so no change is missed.
    ///
    /// ```swift
    /// state.wait { $0 == .ready }
    /// guard state.wait(until: { $0 == .ready }, timeout: .seconds(5)) else { return }
    /// ```
    ///
    /// Other threads may change the value again before this one goes on.
    ///
    /// - Note: With a time-out, as with ``write(timeout:_:)``: on Apple systems it may be over though the lock was free.
    /// - Warning: The condition is tested under the lock by the thread that has changed the value. It must not access
    ///   that value or another protected one, whose lock the thread may hold as well, and should be quick. Crashes if
    ///   the calling thread is accessing the value already, unless the time-out is zero.
    /// - Parameters:
    ///   - condition: Whether this is the value to wait for. It may be tested a last time while this returns.
    ///   - timeout: How long to wait. With zero or less the condition is tested once, if nobody is accessing the
    ///     value; with `.never` this waits for as long as it takes.
    /// - Returns: Whether a value met the condition in time.
    @discardableResult
    @available(*, noasync, message: "It blocks the thread. Use `try await wait(until:)`, which a cancellation ends.")
    public func wait(
        until condition: @escaping @Sendable (Value) -> Bool,
        timeout: DispatchTimeInterval = .never
    ) -> Bool {
        storage.wait(until: condition, by: Deadline(after: timeout))
    }

    /// Waits until the value meets a condition, then changes it, in one step: no other access comes between.
    ///
    /// ```swift
    /// let job = jobs.write(when: { !$0.isEmpty }) { $0.removeFirst() }
    /// ```
    ///
    /// - Warning: As with ``wait(until:timeout:)``: other threads test the condition under
    ///   the lock. Crashes if the calling thread is accessing the value already.
    /// - Parameters:
    ///   - condition: Whether this is the value to wait for.
    ///   - body: What to do with the value, on the calling thread, while nobody else can access it.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    @inlinable
    @available(*, noasync, message: "It blocks the thread. Use `try await write(when:)`.")
    public func write<Result: ~Copyable, Failure: Error>(
        when condition: @escaping @Sendable (Value) -> Bool,
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        _ = storage.lock(when: condition, by: .never)
        return try writeAndUnlock(body)
    }

    /// Waits until the value meets a condition, then changes it, in one step, unless that takes too long.
    ///
    /// - Note: As with ``write(timeout:_:)``: on Apple systems the time may be over though the lock was free.
    /// - Warning: As with ``wait(until:timeout:)``: other threads test the condition under
    ///   the lock. Crashes if the calling thread is accessing the value already, unless the time-out is zero.
    /// - Parameters:
    ///   - condition: Whether this is the value to wait for.
    ///   - timeout: How long to wait, not for the closure. With zero or less it is tried once; `.never` waits for as
    ///     long as it takes.
    ///   - body: What to do with the value, on the calling thread, while nobody else can access it.
    /// - Returns: What the closure returns; `nil` if it was not called, and never will be.
    /// - Throws: What the closure throws.
    @inlinable
    @available(*, noasync, message: "It blocks the thread. Use `try await write(when:timeout:)`.")
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
    /// - Warning: The condition is tested under the lock by the thread that has changed the value. It must not access
    ///   that value or another protected one, whose lock the thread may hold as well, and should be quick.
    /// - Parameter condition: Whether this is the value to wait for.
    /// - Throws: `CancellationError` if the task is cancelled; the wait ends at once then.
    public func wait(until condition: @escaping @Sendable (Value) -> Bool) async throws(CancellationError) {
        await storage.wait(until: condition)
        if Task.isCancelled { throw CancellationError() }
    }

    /// Suspends the task until the value meets a condition, then changes it, in one step: no other access comes
    /// between.
    ///
    /// ```swift
    /// let job = try await jobs.write(when: { !$0.isEmpty }) { $0.removeFirst() }
    /// ```
    ///
    /// No thread waits. A change wakes the first of those whose condition it meets, which wakes the next when it has
    /// changed the value, or gives up. A task that comes meanwhile may go first.
    ///
    /// - Warning: The condition is tested under the lock, by the thread that has changed the value and by the task. It
    ///   must not access that value or another protected one, whose lock the thread may hold as well, and should be
    ///   quick.
    /// - Parameters:
    ///   - condition: Whether this is the value to wait for.
    ///   - body: What to do with the value, in the task, while nobody else can access it.
    /// - Returns: What the closure returns.
    /// - Throws: `CancellationError` if the task is found cancelled before the closure is called, or what that throws.
    nonisolated(nonsending) public func write<Result: ~Copyable>(
        when condition: @escaping @Sendable (Value) -> Bool,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        // Without a time-out it ends with the change, or throws.
        try await write(when: condition, timeout: .never, body)!
    }

    /// Suspends the task until the value meets a condition, then changes it, in one step, unless that takes too long.
    ///
    /// ```swift
    /// let connection = try await idle.write(when: { !$0.isEmpty }, timeout: .seconds(5)) { $0.removeLast() }
    /// ```
    ///
    /// It waits as without a time-out, and no thread waits.
    ///
    /// - Parameters:
    ///   - condition: Whether this is the value to wait for.
    ///   - timeout: How long to wait, not for the closure. With zero or less it is tried once; `.never` waits for as
    ///     long as it takes.
    ///   - body: What to do with the value, in the task, while nobody else can access it.
    /// - Returns: What the closure returns; `nil` if it was not called, and never will be.
    /// - Throws: `CancellationError` if the task is found cancelled before the closure is called, or what that throws.
    nonisolated(nonsending) public func write<Result: ~Copyable>(
        when condition: @escaping @Sendable (Value) -> Bool,
        timeout: DispatchTimeInterval,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result? {
        let deadline = Deadline(after: timeout)
        // One element for each time that it is woken. It ends when the time is over, or the task is cancelled.
        let (wakes, continuation) = AsyncStream.makeStream(of: Void.self)
        var wake = wakes.makeAsyncIterator()
        let condition = Condition(condition, isForChange: true) { awaitedTarget.async { continuation.yield() } }
        var timer: LibraryTimer?
        defer { timer?.cancel() }
        repeat {
            guard !deadline.isTime || !deadline.hasPassed, storage.lock(until: deadline) else { break }
            let isMet = storage.goesOn(condition)
            // After the condition, which may take its time.
            let isCancelled = Task.isCancelled  // fault: a cancelled task changes it
            if isMet, !isCancelled { return try writeAndUnlock(body) }  // fault: a task changes what is not met
            // A task that is cancelled leaves as one that was woken.
            condition.isWoken = isMet
            unlock()
            if deadline == .passed { break }
            if timer == nil, deadline.isTime { timer = LibraryTimer.set(at: deadline.time, continuation.finish) }
        } while await wake.next(isolation: #isolation) != nil
        storage.leave(condition)
        if Task.isCancelled { throw CancellationError() }
        return nil
    }
}
