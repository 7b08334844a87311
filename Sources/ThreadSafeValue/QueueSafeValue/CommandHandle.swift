//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

/// A handle for a command that was submitted to a target queue. With it you cancel the command, make it more urgent, or wait
/// for its end.
///
/// ```swift
/// let handle = counter.async(performIn: .main).lowestPriority.update { counter in
///     counter += 1
///     return counter
/// }
/// print(await handle.value)
/// ```
///
/// The command runs whether you keep the handle or not. The handle does not keep the value alive. Once the command is over,
/// the handle keeps only the answer of an `update`.
public struct CommandHandle<Answer: Sendable>: Sendable {
    private let accepted: Result<AcceptedCommand, QueueSafeValueError>

    /// - Parameter accepted: The command, or the reason why it was not accepted.
    @usableFromInline init(_ accepted: Result<AcceptedCommand, QueueSafeValueError>) { self.accepted = accepted }
}

extension CommandHandle {
    /// The state of the command at the moment.
    public var state: CommandState {
        if case .success(let accepted) = accepted { accepted.command.state } else { .refused }
    }

    private var refusal: Result<Answer, QueueSafeValueError> {
        if case .failure(let failure) = accepted { .failure(failure) } else { .failure(.commandQueueFull) }
    }

    /// Cancels the command, unless it has begun.
    ///
    /// The closure of a cancelled command is never called, and its completion gets ``QueueSafeValueError/cancelled`` on the
    /// target queue. The captures of the closure are released on the calling thread, before this method returns. The
    /// closure of a `get` is an exception: it is called with the failure on the target queue.
    ///
    /// - Returns: `true` if this call cancelled the command; `false` if the command had begun, or was cancelled or refused
    ///   before.
    /// - Complexity: O(log number of target queues that have commands), on average.
    @discardableResult public func cancel() -> Bool {
        guard case .success(let accepted) = accepted else { return false }
        unsafe schedulingPoint("cancel of", accepted.lane.turns, accepted.lane.turns.word.storage, waits: false)
        return accepted.lane.turns.cancel(accepted.command, of: accepted.lane)
    }

    /// The answer of the command: the result of an `update`, or the reason why the command failed.
    ///
    /// The answer of any other command is `Void`. The updated value of a `set` goes to its completion.
    ///
    /// The task is suspended until the command is over. In an async closure that has the value itself, the answer is
    /// ``QueueSafeValueError/reentrantCommand`` at once, and the command runs later. The library does not find a circle
    /// through another value.
    public var value: Result<Answer, QueueSafeValueError> {
        get async {
            guard case .success(let accepted) = accepted else { return refusal }
            if accepted.waitsForCaller { return accepted.mistake(.reentrantCommand) }
            unsafe await withUnsafeContinuation { continuation in
                if !accepted.notifyAtEnd({ unsafe continuation.resume() }) { unsafe continuation.resume() }
            }
            return accepted.result()
        }
    }

    /// Blocks the calling thread until the command is over, for example at the end of a program.
    ///
    /// - Warning: Don't wait in a block of a serial queue for a command on the same queue: the wait would never end. The
    ///   library does not find a circle through another value either.
    /// - Parameter timeout: For how long the thread may wait. `.never` is for ever. With zero or less, the thread only
    ///   looks.
    /// - Returns: The same as ``value``; ``QueueSafeValueError/timedOut`` if the time ended first, and the command runs
    ///   later. Some waits would never end, and answer at once. Inside a command of the same value, the answer is
    ///   ``QueueSafeValueError/reentrantCommand``. It is ``QueueSafeValueError/circularWait`` in a task while an async
    ///   closure has the turn. It is the same in a block of the main queue, or of a queue that targets the main queue, if
    ///   the command is for the main queue.
    @discardableResult @available(*, noasync, message: "It blocks the thread. Use `await handle.value`.")
    public func wait(timeout: DispatchTimeInterval = .never) -> Result<Answer, QueueSafeValueError> {
        guard case .success(let accepted) = accepted else { return refusal }
        unsafe schedulingPoint("wait for one of", accepted.lane.turns, accepted.lane.turns.word.storage, waits: false)
        // fault: a handle waits for its caller
        if accepted.waitsForCaller { return accepted.mistake(.reentrantCommand) }
        // fault: a handle needs its own thread
        if accepted.needsCallingThread { return accepted.mistake(.circularWait) }
        return accepted.wait(until: Deadline(after: timeout)) ? accepted.result() : .failure(.timedOut)
    }

    /// Changes how early the command gets its turn, while it waits.
    ///
    /// The command keeps its arrival, so it goes before the commands of its new priority that were submitted later.
    ///
    /// ```swift
    /// let load = images.async(performIn: .utility).lowestPriority.set { $0.load(row) }
    /// load.changePriority(to: .highest)                   // the row became visible
    /// ```
    ///
    /// - Parameter priority: The new priority.
    /// - Returns: `true` if the command waits with the new priority; `false` if it had begun, or was cancelled or refused
    ///   before.
    /// - Complexity: O(log *q*) for *q* target queues while the commands of a suspended or busy value change in the order in
    ///   which they came. Otherwise O(*n* log *n*) for *n* commands that wait for the target queue, once for a burst of
    ///   changes. Other commands of the value wait meanwhile.
    @discardableResult public func changePriority(to priority: CommandPriority) -> Bool {
        guard case .success(let accepted) = accepted else { return false }
        unsafe schedulingPoint("change of", accepted.lane.turns, accepted.lane.turns.word.storage, waits: false)
        return accepted.lane.turns.update { $0.changePriority(of: accepted.command, in: accepted.lane, to: priority) }
    }
}
