//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

extension QueueSafeContainer where Value: Sendable {
    /// The value after every change from now on, for a `for await` loop that needs only the latest one.
    ///
    /// Any number of loops may listen. While none does, commands cost nothing more.
    public var changes: ValueChanges<Value> {
        changes(buffering: .latest)
    }

    /// The value after every change from now on.
    ///
    /// Each command that may change the value gives one element, when it is complete: also one whose closure threw, or
    /// whose `done` was dropped. `get` and `map` give none.
    ///
    /// ```swift
    /// for await report in reports.changes(buffering: .unbounded) {
    ///     log(report)
    /// }
    /// ```
    ///
    /// - Parameter buffering: How many values to keep for a loop that is busy.
    /// - Returns: A sequence that listens already. It does not keep the value, and ends with it.
    public func changes(buffering: ValueChanges<Value>.Buffering) -> ValueChanges<Value> {
        ValueChanges(of: queue.listeners, buffering: buffering)
    }

    /// The value after every change, and before that the value as it is.
    ///
    /// ```swift
    /// for await level in value.changes(startingWithCurrentValue: true) { show(level) }
    /// ```
    ///
    /// - Parameters:
    ///   - startsWithCurrentValue: Whether the first element is the value as it is when a command of highest priority
    ///     could read it: now, if the turn is free; until then that command is one of those that wait, also beyond a
    ///     bound. No change comes between it and the next element.
    ///   - buffering: How many values to keep for a loop that is busy.
    /// - Returns: A sequence that listens already. It does not keep the value, and ends with it.
    public func changes(
        startingWithCurrentValue startsWithCurrentValue: Bool,
        buffering: ValueChanges<Value>.Buffering = .latest
    ) -> ValueChanges<Value> {
        guard startsWithCurrentValue else { return changes(buffering: buffering) }
        let queue = queue
        let (listeners, reference) = (queue.listeners, queue.withTurnQueue { $0.weakReference() })
        return ValueChanges(of: listeners, buffering: buffering) { listener in
            guard let queue = reference.queue else { return listeners.remove(listener) }
            CommandQueue<Value>(of: queue).start(listener)
        } startFirst: { listener in
            // Without the reference: see `QueueReference.queue`.
            queue.start(listener)
        }
    }
}

extension CommandQueue {
    /// Adds a listener with the turn, on a global queue if that is not free.
    fileprivate func start(_ listener: ChangeBroadcaster<Value>.Listener) {
        if case .taken = tryToTakeTurn(.highest, .none) {
            let tell = unsafe listeners.add(listener, startingWith: value.pointee)
            giveTurnBack(of: TurnWord.currentThread, afterChange: false)
            return tell()
        }
        startInLine(listener)
    }

    /// Adds a listener with the turn, on a global queue. The calling thread resumes no task.
    private func startInLine(_ listener: ChangeBroadcaster<Value>.Listener) {
        let (listeners, reference) = (listeners, storage.turns.weakReference())
        let answer = submit(.highest, in: .global(), evenIfFull: true) { turn in
            switch turn {
            case .success(let storage):
                let value = unsafe CommandQueue<Value>(of: storage).value
                let tell = unsafe listeners.add(listener, startingWith: value.pointee)
                return .complete(isChange: false, tell: tell)
            case .failure:
                // The listener was removed, all pending commands were cancelled, or the value has gone.
                if !listeners.isRemoved(listener) {
                    // At once: it is to miss no change that the caller makes after that.
                    if let queue = reference.queue {
                        CommandQueue(of: queue).startInLine(listener)
                    } else {
                        listeners.remove(listener)
                    }
                }
                return .complete(isChange: false, tell: nil)
            }
        }
        guard case .success(let command) = answer else { return }
        listeners.ifRemoved(listener) {
            command.state == .waiting
        } cancel: {
            command.cancel()
        }
    }
}
