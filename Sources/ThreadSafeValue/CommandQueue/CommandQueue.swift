//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

/// A value and the turns to use it: whoever has the turn has the value to itself.
///
/// *The turn is one atomic word* (`TurnWord`). With nobody else there, taking it and giving it back is one
/// compare-and-swap each, in the caller's own code. Everything else goes through the line (`WaiterQueue`), under its
/// lock:
///
/// - A thread that finds the turn taken spins for a moment, then stands in line and parks. When it is woken it takes
///   the turn and runs its own closure on its own thread. Turns are queued, not closures.
/// - A command for a target queue waits in a `Lane`, whose block takes the turn on that queue. While nothing else waits
///   it begins the lane's next commands without the lock: they were granted to it.
/// - A task that is to run an async body has a lane of its own (`WaitingTask`): its block is the task, which takes the
///   turn when its executor lets it go on. A submitted async body has a task that does so (`TaskBlock`).
/// - A release with somebody in line chooses the front as the successor, and wakes its thread or dispatches its block,
///   once: while a successor is on its way, further releases wake nobody. Until it is there the turn is free: a
///   newcomer that is more urgent than all who wait takes it, and an equal one barges, before the `BargingDeadline`.
///
/// The turn is freed in the same exchange that publishes who waits. Nobody holds it but a closure that runs, an async
/// body, or a manual command between the end of its closure and its `done`.
@safe
@usableFromInline
struct CommandQueue<Value> {
    @usableFromInline
    let storage: CommandQueueStorage<Value>

    @inlinable
    init(storage: CommandQueueStorage<Value>) {
        self.storage = storage
    }

    /// The queue that has given its turn to a command: see `PendingCommand.Work`.
    @inlinable
    init(of storage: AnyObject) {
        self.storage = unsafe unsafeDowncast(storage, to: CommandQueueStorage<Value>.self)
    }

    /// Creates a queue around a value.
    ///
    /// - Parameters:
    ///   - value: What to queue for.
    ///   - policy: The bounds that keep it fast.
    ///   - limit: How many commands of target queues may wait in line.
    init(_ value: Value, policy: HandoffPolicy = HandoffPolicy(), limit: Int = .max) {
        storage = .make(value, policy: policy, limit: limit)
    }
}

// The value is reached only by whoever has the turn, all else by atomics or under the lock of the line. What goes in
// and out crosses threads: the containers ask for `Sendable` where that matters.
extension CommandQueue: @unchecked Sendable {}

// What each `wait` command calls is transparent: a debug build inlines it too, and knows the types then. Without, it
// asks the runtime for their metadata, and a command takes twice as long there.

extension CommandQueue {
    /// Where the storage is. Keep that while you use it.
    @inlinable
    @_transparent
    var address: BufferAddress<Value, CommandQueueState> {
        unsafe BufferAddress(unsafeBitCast(self, to: UnsafeMutableRawPointer.self))
    }

    @inlinable
    @_transparent
    var word: AtomicWord { unsafe CommandQueueState.word(0, of: address.elements) }

    /// Where the value is: only for whoever has the turn.
    @inlinable
    @_transparent
    var value: UnsafeMutablePointer<Value> { unsafe address.header }

    /// Gives the turn back to whoever is next.
    ///
    /// - Parameters:
    ///   - holder: Whoever has the turn.
    ///   - isChange: Whether the value may have changed, and nobody was told yet.
    @inlinable
    @_transparent
    func giveTurnBack(of holder: UInt64, afterChange isChange: Bool) {
        if !word.exchangeReleasing(holder, for: TurnWord.idle) { giveTurnBackSlowly(afterChange: isChange) }
        // The word is an address, which alone keeps nothing alive.
        _fixLifetime(self)
    }

    /// Takes the turn on the calling thread, runs `body` with the value and gives the turn back.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - timeout: For how long it may wait for the turn, in nanoseconds.
    ///   - isChange: Whether `body` may change the value.
    ///   - body: What to do with the value.
    /// - Returns: What `body` returned or threw, or why there was no turn.
    @inlinable
    @_transparent
    func perform<Success>(
        _ priority: CommandPriority,
        _ timeout: UInt64,
        isChange: Bool,
        _ body: (inout Value) throws -> Success
    ) -> Result<Success, QueueSafeValueError> {
        let thread = TurnWord.currentThread
        if !word.exchangeAcquiring(TurnWord.idle, for: thread), let failure = waitForTurn(priority, timeout) {
            return .failure(failure)
        }
        return runAndGiveTurnBack(of: thread, isChange: isChange, body)
    }

    /// Runs `body` with the turn of the calling thread, and gives that back before the result can go away.
    @inlinable
    @_transparent
    func runAndGiveTurnBack<Success>(
        of thread: UInt64,
        isChange: Bool,
        _ body: (inout Value) throws -> Success
    ) -> Result<Success, QueueSafeValueError> {
        let result = run(body)
        giveTurnBack(of: thread, afterChange: isChange)
        _fixLifetime(result)
        return result
    }

    /// What `body` returns or throws with the value. Only with the turn.
    @inlinable
    @_transparent
    func run<Success>(_ body: (inout Value) throws -> Success) -> Result<Success, QueueSafeValueError> {
        do {
            return .success(try unsafe body(&value.pointee))
        } catch {
            return .failure(.unexpected(error: error))
        }
    }
}

// Slow paths, none of which is generic but where the value itself matters.

extension CommandQueue {
    /// Calls `body` with all that does not ask for the value.
    @inlinable
    @inline(__always)
    func withTurnQueue<Answer>(_ body: (TurnQueue) -> Answer) -> Answer {
        withExtendedLifetime(storage) { body(storage.turns) }
    }

    /// Takes the turn on the calling thread, and parks it for as long as that takes.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - timeout: For how long it may wait, in nanoseconds; with 0 it only looks.
    /// - Returns: `nil` with the turn, or why there is none to be had.
    @inlinable
    @inline(never)
    func waitForTurn(_ priority: CommandPriority, _ timeout: UInt64) -> QueueSafeValueError? {
        withTurnQueue { $0.waitForTurn(priority, timeout) }
    }

    /// Gives back a turn for which somebody waits, or that of a value that somebody listens to.
    @inlinable
    @inline(never)
    func giveTurnBackSlowly(afterChange isChange: Bool) {
        withTurnQueue { $0.giveTurnBack(afterChange: isChange) }
    }

    func waitForTurn(_ priority: CommandPriority, until deadline: Deadline) -> QueueSafeValueError? {
        withTurnQueue { $0.waitForTurn(priority, until: deadline) }
    }

    func tryToTakeTurn(_ priority: CommandPriority, _ backoff: Backoff, inTask: Bool = false) -> Attempt {
        withTurnQueue { $0.tryToTakeTurn(priority, backoff, inTask: inTask) }
    }

    func moveTurn(to holder: UInt64) {
        withTurnQueue { $0.moveTurn(to: holder) }
    }

    /// Puts a command in line for its target queue and returns at once: see `TurnQueue`.
    @inlinable
    func submit(
        _ priority: CommandPriority,
        in target: DispatchQueue,
        evenIfFull: Bool = false,
        work: consuming @escaping PendingCommand.Work
    ) -> Result<CommandHandle, QueueSafeValueError> {
        defer { withExtendedLifetime(storage) {} }
        return storage.turns.submit(priority, in: target, evenIfFull: evenIfFull, work: work)
    }
}

/// The one allocation of a command queue: the value, the turn word and the line.
///
/// What keeps it alive can use the value: handles, schedules, running commands, dispatched blocks. Pending commands do
/// not (see `PendingCommand`), so a suspended value that nobody can resume goes away, and its commands are refused.
@safe
@usableFromInline
final class CommandQueueStorage<Value>: ManagedBuffer<Value, CommandQueueState> {
    // The value is the header, which ends by itself.
    deinit {
        dismissWaiters()
        unsafe withUnsafeMutablePointerToElements { state in
            unsafe PlatformLock.Storage.deinitialize(CommandQueueState.lock(state))
            unsafe CommandQueueState.waiters(state).deinitialize(count: 1)
        }
        let _: ChangeBroadcaster<Value>? = listeners.takeObject()
        let _: QueueReference? = word(3).takeObject()
    }
}

/// What stands behind the value in a command queue's storage, at a place that never changes.
@safe
@usableFromInline
struct CommandQueueState {
    // The words stand first, so that they are found without a key path.

    /// The `TurnWord`.
    var word: AtomicWord.Storage

    /// The `BargingDeadline`. Written under the lock.
    var bargingDeadline: AtomicWord.Storage

    /// When the front came, while lanes have commands in line that are as urgent; else 0. Written under the lock.
    var frontArrival: AtomicWord.Storage

    /// Keeps the `QueueReference`, once there is one.
    var reference: AtomicWord.Storage

    /// Keeps the `ChangeBroadcaster`, once somebody has listened.
    var listeners: AtomicWord.Storage

    // Between the words and the lock, so that those who have the turn and those who submit write to memory apart.

    let policy: HandoffPolicy

    let owner: Owner

    /// The lock of everything in the slow path.
    var lock: PlatformLock.Storage

    /// Guarded by `lock`.
    var waiters: WaiterQueue

    /// The storage itself, which no member may keep.
    struct Owner {
        unowned(unsafe) let queue: any AnyCommandQueue
    }
}

extension CommandQueueState {
    /// One of the words that the state begins with.
    @inlinable
    @_transparent
    static func word(_ index: Int, of state: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(UnsafeMutableRawPointer(state).assumingMemoryBound(to: AtomicWord.Storage.self) + index)
    }

    // Addresses, and not `&state.pointee.lock`: that would be an access to the whole member, and several threads must
    // not have one at once.

    static func lock(_ state: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<PlatformLock.Storage> {
        unsafe state.pointer(to: \.lock).unsafelyUnwrapped
    }

    static func waiters(_ state: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<WaiterQueue> {
        unsafe state.pointer(to: \.waiters).unsafelyUnwrapped
    }

    static func initialize(
        _ state: UnsafeMutablePointer<Self>,
        of owner: any AnyCommandQueue,
        _ policy: HandoffPolicy,
        limit: Int
    ) {
        for index in 0..<5 { unsafe word(index, of: state).storage.initialize(to: AtomicWord.zero) }
        unsafe PlatformLock.Storage.initialize(lock(state))
        let identity = UInt(bitPattern: state)
        unsafe waiters(state).initialize(to: WaiterQueue(policy: policy, limit: limit, identity: identity))
        unsafe UnsafeMutablePointer(mutating: state.pointer(to: \.policy).unsafelyUnwrapped).initialize(to: policy)
        unsafe UnsafeMutablePointer(mutating: state.pointer(to: \.owner).unsafelyUnwrapped).initialize(
            to: Owner(queue: owner)
        )
    }
}

extension CommandQueueStorage {
    static func make(_ value: Value, policy: HandoffPolicy, limit: Int) -> CommandQueueStorage {
        let buffer = create(minimumCapacity: 1) { _ in value }
        // `create` makes an object of the class that it is called on.
        let storage = unsafe unsafeDowncast(buffer, to: CommandQueueStorage.self)
        unsafe storage.withUnsafeMutablePointerToElements { state in
            unsafe CommandQueueState.initialize(state, of: storage, policy, limit: limit)
        }
        BufferAddress(of: storage).check(storage)
        return storage
    }

    /// All that does not ask for the value. Keep the storage while you use it.
    @inlinable
    var turns: TurnQueue {
        unsafe TurnQueue(state: BufferAddress(of: self).elements)
    }

    var listeners: AtomicWord { word(4) }

    func word(_ index: Int) -> AtomicWord {
        unsafe CommandQueueState.word(index, of: BufferAddress(of: self).elements)
    }

    /// Where the value is: only for whoever has the turn.
    var value: UnsafeMutablePointer<Value> { unsafe BufferAddress(of: self).header }
}

// Reflection would read the value without the turn.
extension CommandQueueStorage: CustomReflectable {
    @usableFromInline
    var customMirror: Mirror { Mirror(self, children: [], ancestorRepresentation: .suppressed) }
}

extension CommandQueueStorage: AnyCommandQueue {
    var valueType: any Any.Type { Value.self }

    func recordChange() -> Batch.Delivery? {
        let listeners: ChangeBroadcaster<Value>? = listeners.object()
        guard let delivery = unsafe listeners?.record(value.pointee) else { return nil }
        return Batch.Delivery(isAwaited: delivery.isAwaited, deliver: delivery.deliver)
    }

    /// Nobody can resume the value any more: refuses the commands that wait, and tells those who listen that it has
    /// gone.
    private func dismissWaiters() {
        // With both locks, so that handles see the states that the queue and its blocks have left.
        let lanes = turns.withWaiters { $0.allLanes }
        let reference: QueueReference? = word(3).object()
        let refused = reference?.end { lanes.map { $0.removeAll(.refused) } } ?? []
        let listeners: ChangeBroadcaster<Value>? = listeners.object()
        listeners?.finish()
        for (lane, commands) in zip(lanes, refused) where !commands.isEmpty {
            // There: who lets go of the value may have the turn of another one, which a task that is told waits for.
            lane.target.async {
                lane.target.tell(commands.compactMap { $0.refusal(.valueContainerDeinited) })
                // Once all have been told, if it is a serial queue: what goes away may wait for one of them.
                lane.target.async { commands.forEach { $0.dropWork() } }
            }
        }
    }
}
