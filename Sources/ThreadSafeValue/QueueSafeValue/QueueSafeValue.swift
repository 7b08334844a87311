//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

/// A value with an embedded priority command queue: its commands run one at a time, the most urgent first.
///
/// A command reads as `value.{schedule}.{priority}.{command}`:
///
/// ```swift
/// let counter = QueueSafeValue(value: 0)
/// counter.wait.highestPriority.set { $0 += 1 }
/// counter.async(performIn: .main).lowestPriority.get { result in print(result) }
/// ```
///
/// `QueueSafeValue` is a handle: its copies share one value. The value lives as long as a copy of the handle, a schedule
/// that you keep, or an accepted command. So a command on a temporary handle succeeds. Swift does not copy a `borrowing`
/// or `consuming` parameter by itself: write `(copy value).wait` there.
public struct QueueSafeValue<Value> {
    @usableFromInline let queue: CommandQueue<Value>

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - value: The value that commands read and change from now on.
    ///   - pendingCommandLimit: How many commands of queues and of tasks may wait. A further command is not accepted, and
    ///     its task or its completion gets ``QueueSafeValueError/commandQueueFull``. A thread in `wait` neither counts nor
    ///     is refused. With 0, the value accepts no command of a queue, because each waits for its queue.
    public init(value: Value, pendingCommandLimit: Int = .max) {
        self.init(CommandQueue(of: CommandQueueStorage.make(value, limit: pendingCommandLimit)))
    }

    init(_ queue: CommandQueue<Value>) { self.queue = queue }
}

// The command queue gives the value to one command at a time. Values that go in or come out may cross to another thread, so
// they must be `Sendable`.
extension QueueSafeValue: Sendable where Value: Sendable {}

extension QueueSafeValue: QueueSafeContainer {
    /// This handle itself.
    public var queueSafeValue: QueueSafeValue<Value> { self }
}

// The members that lead to a command are transparent and `consuming`, so the compiler passes the reference on. Otherwise it
// would count the reference up and down at each command, which costs more than the command.

extension QueueSafeValue {
    /// The commands that run on the calling thread, which waits for its turn.
    public var wait: WaitSchedule<Value> { @inlinable @_transparent consuming get { WaitSchedule(queue: queue) } }

    /// The commands that run on the calling thread, which waits for its turn for a limited time.
    ///
    /// A command that does not get its turn in time answers ``QueueSafeValueError/timedOut``, and its closure never
    /// runs. The time runs from the call of the command to its turn, not to its completion.
    ///
    /// - Parameter timeout: For how long a command may wait. `.never` is for ever. With zero or less, a command takes the
    ///   turn only if the turn is free now.
    /// - Returns: A schedule, on which you choose a priority.
    @inlinable @_transparent public consuming func wait(timeout: DispatchTimeInterval) -> WaitSchedule<Value> {
        WaitSchedule(queue: queue, timeout: timeout.waitingNanoseconds)
    }
}

extension QueueSafeValue where Value: Sendable {
    /// The commands that run on a target queue. A call submits a command and returns at once.
    ///
    /// - Parameter queue: The queue where the closures of the commands run. It is occupied only while a closure runs.
    /// - Returns: A schedule, on which you choose a priority.
    @inlinable @_transparent public consuming func async(performIn queue: DispatchQueue) -> AsyncSchedule<Value> {
        AsyncSchedule(queue: self.queue, target: queue)
    }

    /// The commands that run on a global queue. A call submits a command and returns at once.
    ///
    /// - Parameter qos: The quality of service of the global queue where the closures of the commands run.
    /// - Returns: A schedule, on which you choose a priority.
    @inlinable @_transparent public consuming func async(performIn qos: DispatchQoS.QoSClass) -> AsyncSchedule<Value> {
        async(performIn: .global(qos: qos))
    }
}
