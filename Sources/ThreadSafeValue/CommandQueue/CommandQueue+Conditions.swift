//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Commands that wait until the value meets a condition. Each tests it with the turn. If it is not met, the command
// gives the turn back, hears of the next change, without holding anything, and stands in line again.
//
// Invariant (no missed change): an observer is added with the turn, so whoever changes the value next sees it.

extension CommandQueue {
    /// Takes the turn when the value meets a condition, runs `body` with it and gives the turn back.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn, each time that it stands in line.
    ///   - timeout: For how long it may wait in all, in nanoseconds.
    ///   - isMet: Whether this is the value to wait for; called with the turn.
    ///   - body: What to do with the value.
    /// - Returns: What `body` returned or threw, or why there was no turn.
    @inlinable
    func perform<Success>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        when isMet: (Value) -> Bool,
        _ body: (inout Value) throws -> Success
    ) -> Result<Success, QueueSafeValueError> {
        // Before the first test, which may take long.
        let (thread, deadline) = (TurnWord.currentThread, Deadline(after: timeout))
        let hasTurn = word.exchangeAcquiring(TurnWord.idle, for: thread)
        // Mostly it is met at once, and then nothing of what a wait needs is made.
        if unsafe !hasTurn || !isMet(value.pointee),
            let failure = waitForTurn(priority, until: deadline, when: isMet, afterVainTest: hasTurn)
        {
            return .failure(failure)
        }
        return runAndGiveTurnBack(of: thread, isChange: true, body)
    }

    /// Takes the turn when the value meets a condition.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn, each time that it stands in line.
    ///   - deadline: Until when it may wait in all.
    ///   - isMet: Whether this is the value to wait for.
    ///   - afterVainTest: Whether the calling thread has the turn, and the condition is not met.
    /// - Returns: `nil` with the turn, or why there was none.
    @usableFromInline
    func waitForTurn(
        _ priority: CommandPriority,
        until deadline: Deadline,
        when isMet: (Value) -> Bool,
        afterVainTest: Bool
    ) -> QueueSafeValueError? {
        var observer: ChangeObserver?
        defer { if let observer { listeners.remove(observer) } }
        var wasTested = afterVainTest
        while true {
            if !wasTested {
                if let failure = waitForTurn(priority, until: deadline) { return failure }
                if unsafe isMet(value.pointee) { return nil }
            }
            wasTested = false
            if deadline.hasPassed {
                giveTurnBack(of: TurnWord.currentThread, afterChange: false)
                return .timedOut
            }
            let waiting = observer ?? ChangeObserver(ThreadWaiter.current.parker)
            observer = waiting
            listeners.observe(waiting)
            giveTurnBack(of: TurnWord.currentThread, afterChange: false)
            listeners.wait(waiting, until: deadline)
        }
    }
}

extension CommandQueue where Value: Sendable {
    /// The same for a task, which is suspended meanwhile.
    @inlinable
    nonisolated(nonsending) func performAwaited<Success: Sendable>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        when isMet: @escaping @Sendable (Value) -> Bool,
        _ body: @escaping @Sendable (inout Value) throws -> Success
    ) async -> Result<Success, QueueSafeValueError> {
        // Before, so that it takes no turn from anybody.
        if Task.isCancelled { return .failure(.cancelled) }
        let (thread, deadline) = (TurnWord.currentThread, Deadline(after: timeout))
        var observer: ChangeObserver?
        if word.exchangeAcquiring(TurnWord.idle, for: thread) {
            // And with the turn: who had it before may have cancelled the task.
            let isCancelled = Task.isCancelled
            if unsafe !isCancelled && isMet(value.pointee) {
                return runAndGiveTurnBack(of: thread, isChange: true, body)
            }
            let isOver = isCancelled || deadline.hasPassed
            if !isOver { observer = observeChanges() }
            giveTurnBack(of: thread, afterChange: false)
            if isOver { return .failure(isCancelled ? .cancelled : .timedOut) }
        }
        return await performAwaitedSlowly(priority, until: deadline, after: observer, when: isMet, body)
    }

    /// A task waits for the next change, from now on, as the condition is not met. Only with the turn.
    @usableFromInline
    func observeChanges() -> ChangeObserver {
        let observer = ChangeObserver(nil)
        listeners.observe(observer)
        return observer
    }

    // With `known`, a test was in vain, and that waits for the next change already.
    @usableFromInline
    nonisolated(nonsending) func performAwaitedSlowly<Success: Sendable>(
        _ priority: CommandPriority,
        until deadline: Deadline,
        after known: ChangeObserver?,
        when isMet: @escaping @Sendable (Value) -> Bool,
        _ body: @escaping @Sendable (inout Value) throws -> Success
    ) async -> Result<Success, QueueSafeValueError> {
        let (listeners, observer) = (listeners, known ?? ChangeObserver(nil))
        let timer =
            deadline.isTime ? TimerThreads.timeouts.set(deadline.time, for: Alarm { listeners.wake(observer) }) : nil
        defer {
            listeners.remove(observer)
            if let timer { TimerThreads.timeouts.remove(timer) }
        }
        // It was accepted then, for as long as it waits.
        var wasTested = known != nil
        var isObserving = wasTested
        while true {
            if !isObserving {
                let attempt = await performAwaited(priority, until: deadline, evenIfFull: wasTested) {
                    turn -> (Result<Success?, QueueSafeValueError>, isChange: Bool) in
                    guard unsafe isMet(turn.value.pointee) else {
                        listeners.observe(observer)
                        return (.success(nil), isChange: false)
                    }
                    return (turn.run(body).map(Optional.some), isChange: true)
                }
                switch attempt {
                case .success(let success?): return .success(success)
                case .failure(let failure): return .failure(failure)
                case .success(nil): wasTested = true
                }
            }
            isObserving = false
            if deadline.hasPassed { return .failure(.timedOut) }
            await withTaskCancellationHandler {
                await listeners.wait(observer)
            } onCancel: {
                listeners.wake(observer)
            }
        }
    }
}

/// Wakes a task when its time is over.
private struct Alarm: TimerTarget {
    let wake: @Sendable () -> Void

    func timerFired() {
        wake()
    }
}
