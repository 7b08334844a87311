//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

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

    /// A bit for each thread or task that has commands in a lane, several to a bit. Written under the lock.
    var submitters: AtomicWord.Storage

    /// Keeps the `QueueReference`, once there is one.
    var reference: AtomicWord.Storage

    /// Keeps the `ChangeBroadcaster`, once somebody has listened.
    var listeners: AtomicWord.Storage

    /// The lock of everything in the slow path.
    var lock: PlatformLock.Storage

    /// Guarded by `lock`.
    var waiters: WaiterQueue

    let policy: HandoffPolicy

    let owner: Owner

    /// The storage itself, which no member may keep.
    struct Owner {
        unowned(unsafe) let queue: any AnyCommandQueue
    }
}

extension CommandQueueState {
    /// One of the words that the state begins with.
    @inlinable
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
        unsafe waiters(state).initialize(to: WaiterQueue(policy: policy, limit: limit))
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
        return storage
    }

    /// The turn word.
    @inlinable
    var word: AtomicWord { word(0) }

    /// All that does not ask for the value. Keep the storage while you use it.
    @inlinable
    var turns: TurnQueue {
        unsafe withUnsafeMutablePointerToElements { unsafe TurnQueue(state: $0) }
    }

    var listeners: AtomicWord { word(4) }

    @inlinable
    func word(_ index: Int) -> AtomicWord {
        unsafe withUnsafeMutablePointerToElements { unsafe CommandQueueState.word(index, of: $0) }
    }

    /// Where the value is: only for whoever has the turn.
    @inlinable
    var value: UnsafeMutablePointer<Value> {
        unsafe withUnsafeMutablePointerToHeader { unsafe $0 }
    }
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
        let lanes = unsafe withUnsafeMutablePointerToElements { unsafe CommandQueueState.waiters($0).pointee.allLanes }
        // With the lock also if nothing waits, so that handles see the states that the queue has left.
        let reference: QueueReference? = word(3).object()
        let refused = reference?.end { lanes.map { $0.removeAll(.refused) } } ?? []
        let listeners: ChangeBroadcaster<Value>? = listeners.object()
        listeners?.finish()
        for (lane, commands) in zip(lanes, refused) where !commands.isEmpty {
            nonisolated(unsafe) let refusals = commands.compactMap { $0.refusal(.valueContainerDeinited) }
            lane.target.async {
                unsafe refusals.forEach { $0() }
                // When all have been told: what goes away may wait for one of them.
                commands.forEach { $0.dropWork() }
            }
        }
    }
}
