//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

/// A value with an embedded priority command queue: commands on it run one at a time, the most urgent first.
///
/// A command reads as `value.{schedule}.{priority}.{command}`:
///
/// ```swift
/// let counter = QueueSafeValue(value: 0)
/// counter.wait.highestPriority.set { $0 += 1 }
/// counter.async(performIn: .main).lowestPriority.get { result in print(result) }
/// ```
///
/// The value lives as long as this object and the commands that it accepted. Schedules and priorities may be kept; they do
/// not keep the value alive, and their commands then answer ``QueueSafeValueError/valueContainerDeinited``. So does
/// a command on a temporary, `QueueSafeValue(value: 1).wait.highestPriority.get()`: hold the container in a variable.
public final class QueueSafeValue<Value> {
    @usableFromInline
    let queue: CommandQueue<Value>

    /// Creates a container around a value.
    ///
    /// - Parameter value: the value that commands read and change from now on.
    public init(value: Value) {
        queue = CommandQueue(value)
    }

    /// Creates a container around a value, with bounds for what waits.
    ///
    /// - Parameters:
    ///   - value: the value that commands read and change from now on.
    ///   - pendingCommandLimit: how many commands for target queues may wait. A further one is not accepted, and its completion
    ///     gets ``QueueSafeValueError/commandQueueFull``.
    ///   - overtakingLimit: after being overtaken so often by commands of higher priority that came later, a command goes next,
    ///     so that none starves; `nil` for never. It makes contended commands dearer: the turn is then always handed over in
    ///     order.
    public init(value: Value, pendingCommandLimit: Int = .max, overtakingLimit: Int? = nil) {
        var patience = Patience()
        patience.overtakings = overtakingLimit.map { UInt32(clamping: $0) }
        queue = CommandQueue(value, patience: patience, limit: pendingCommandLimit)
    }

    /// Creates a container with other bounds, for tests.
    package init(value: Value, patience: Patience) {
        queue = CommandQueue(value, patience: patience, limit: .max)
    }

    deinit {
        queue.close()
    }
}

// The command queue gives the value to one command at a time; what goes in and out crosses threads, hence `Sendable`.
extension QueueSafeValue: Sendable where Value: Sendable {}

extension QueueSafeValue {
    /// Commands that run on the calling thread, which waits for its turn.
    @inlinable
    public var wait: WaitSchedule<Value> {
        WaitSchedule(queue: queue)
    }
}

extension QueueSafeValue {
    /// Commands that run on the calling thread, which waits for its turn for a limited time.
    ///
    /// A command that does not get its turn in time answers ``QueueSafeValueError/timedOut``, and its closure never runs. The
    /// time counts from the call of the command to its turn, not to its completion.
    ///
    /// - Parameter timeout: for how long a command may wait. `.never` is for ever; with zero or less it takes the turn
    ///   only if it is free now.
    /// - Returns: a schedule, on which to choose a priority.
    @inlinable
    public func wait(timeout: DispatchTimeInterval) -> TimedWaitSchedule<Value> {
        TimedWaitSchedule(queue: queue, timeout: timeout.waitingNanoseconds)
    }
}

extension QueueSafeValue where Value: Sendable {
    /// Commands that run on a target queue; submitting one returns at once.
    ///
    /// - Parameter queue: where the closures of the commands run. It is occupied only while one of them does.
    /// - Returns: a schedule, on which to choose a priority.
    @inlinable
    public func async(performIn queue: DispatchQueue) -> AsyncSchedule<Value> {
        AsyncSchedule(queue: self.queue, target: queue)
    }

    /// Commands that run on a global queue; submitting one returns at once.
    ///
    /// - Parameter qos: the quality of service of the global queue where the closures of the commands run.
    /// - Returns: a schedule, on which to choose a priority.
    @inlinable
    public func async(performIn qos: DispatchQoS.QoSClass) -> AsyncSchedule<Value> {
        async(performIn: .global(qos: qos))
    }
}
