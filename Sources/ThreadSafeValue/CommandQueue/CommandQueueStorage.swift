//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The one allocation of a command queue: the value, the turn word and the line.
///
/// What keeps it alive can use the value: handles, schedules, running commands, dispatched blocks. Pending commands do not
/// (see `PendingCommand`), so a suspended value that nobody can resume goes away, and its commands are refused.
@safe
@usableFromInline
final class CommandQueueStorage<Value>: ManagedBuffer<Value, CommandQueueState> {
    // The value is the header, which ends by itself.
    deinit {
        dismissWaiters()
        unsafe withUnsafeMutablePointerToElements { state in
            unsafe PlatformLock.Storage.deinitialize(CommandQueueState.lock(state))
            unsafe state.pointer(to: \.waiters).unsafelyUnwrapped.deinitialize(count: 1)
            unsafe state.pointer(to: \.listeners).unsafelyUnwrapped.deinitialize(count: 1)
            unsafe state.pointer(to: \.reference).unsafelyUnwrapped.deinitialize(count: 1)
        }
    }
}

/// What stands behind the value in a command queue's storage, at a place that never changes.
@safe
@usableFromInline
struct CommandQueueState {
    /// The `TurnWord`. The first member, so that it is found without a key path.
    var word: AtomicWord.Storage

    /// The `BargingDeadline`. Written under the lock.
    var bargingDeadline: AtomicWord.Storage

    /// A bit for each thread or task that has commands in a lane, several to a bit. Written under the lock.
    var submitters: AtomicWord.Storage

    /// The lock of everything in the slow path.
    var lock: PlatformLock.Storage

    // Guarded by `lock`.
    var waiters: WaiterQueue
    var listeners: (any ValueListeners)?
    var reference: QueueReference?

    /// How many commands of target queues may wait in line.
    let limit: Int

    let policy: HandoffPolicy
}

extension CommandQueueState {
    @inlinable
    static func word(_ state: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(UnsafeMutableRawPointer(state).assumingMemoryBound(to: AtomicWord.Storage.self))
    }

    // Addresses, and not `&state.pointee.lock`: that would be an access to the whole member, and several threads must not
    // have one at once.

    static func lock(_ state: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<PlatformLock.Storage> {
        unsafe state.pointer(to: \.lock).unsafelyUnwrapped
    }

    static func initialize(_ state: UnsafeMutablePointer<Self>, _ policy: HandoffPolicy, limit: Int) {
        unsafe state.pointer(to: \.word).unsafelyUnwrapped.initialize(to: AtomicWord.zero)
        unsafe state.pointer(to: \.bargingDeadline).unsafelyUnwrapped.initialize(to: AtomicWord.zero)
        unsafe state.pointer(to: \.submitters).unsafelyUnwrapped.initialize(to: AtomicWord.zero)
        unsafe PlatformLock.Storage.initialize(lock(state))
        unsafe state.pointer(to: \.waiters).unsafelyUnwrapped.initialize(to: WaiterQueue(policy: policy))
        unsafe state.pointer(to: \.listeners).unsafelyUnwrapped.initialize(to: nil)
        unsafe state.pointer(to: \.reference).unsafelyUnwrapped.initialize(to: nil)
        unsafe UnsafeMutablePointer(mutating: state.pointer(to: \.limit).unsafelyUnwrapped).initialize(to: limit)
        unsafe UnsafeMutablePointer(mutating: state.pointer(to: \.policy).unsafelyUnwrapped).initialize(to: policy)
    }
}

extension CommandQueueStorage {
    static func make(_ value: Value, policy: HandoffPolicy, limit: Int) -> CommandQueueStorage {
        let buffer = create(minimumCapacity: 1) { _ in value }
        // `create` makes an object of the class that it is called on.
        let storage = unsafe unsafeDowncast(buffer, to: CommandQueueStorage.self)
        unsafe storage.withUnsafeMutablePointerToElements { state in
            unsafe CommandQueueState.initialize(state, policy, limit: limit)
        }
        return storage
    }

    /// The turn word.
    @inlinable
    var word: AtomicWord {
        unsafe withUnsafeMutablePointerToElements { unsafe CommandQueueState.word($0) }
    }

    /// Where the value is: only for whoever has the turn.
    @inlinable
    var value: UnsafeMutablePointer<Value> {
        unsafe withUnsafeMutablePointerToHeader { unsafe $0 }
    }

    var bargingDeadline: AtomicWord {
        unsafe withUnsafeMutablePointerToElements {
            unsafe AtomicWord($0.pointer(to: \.bargingDeadline).unsafelyUnwrapped)
        }
    }

    var submitters: AtomicWord {
        unsafe withUnsafeMutablePointerToElements {
            unsafe AtomicWord($0.pointer(to: \.submitters).unsafelyUnwrapped)
        }
    }

    var limit: Int {
        unsafe withUnsafeMutablePointerToElements { unsafe $0.pointer(to: \.limit).unsafelyUnwrapped.pointee }
    }

    var policy: HandoffPolicy {
        unsafe withUnsafeMutablePointerToElements { unsafe $0.pointer(to: \.policy).unsafelyUnwrapped.pointee }
    }

    /// Runs `body` under the lock.
    func withWaiters<Answer>(_ body: (inout WaiterQueue) -> Answer) -> Answer {
        unsafe withUnsafeMutablePointerToElements { state in
            unsafe PlatformLock.Storage.lock(CommandQueueState.lock(state))
            defer { unsafe PlatformLock.Storage.unlock(CommandQueueState.lock(state)) }
            return unsafe body(&state.pointer(to: \.waiters).unsafelyUnwrapped.pointee)
        }
    }

    /// Those who listen to changes; under the lock.
    var listeners: (any ValueListeners)? {
        get {
            unsafe withUnsafeMutablePointerToElements { unsafe $0.pointer(to: \.listeners).unsafelyUnwrapped.pointee }
        }
        set {
            unsafe withUnsafeMutablePointerToElements { state in
                unsafe state.pointer(to: \.listeners).unsafelyUnwrapped.pointee = newValue
            }
        }
    }

    /// What handles and timers keep instead of this; under the lock.
    var reference: QueueReference {
        unsafe withUnsafeMutablePointerToElements { state in
            let place = unsafe state.pointer(to: \.reference).unsafelyUnwrapped
            if let reference = unsafe place.pointee { return reference }
            let reference = QueueReference(to: self)
            unsafe place.pointee = reference
            return reference
        }
    }
}

// Reflection would read the value without the turn.
extension CommandQueueStorage: CustomReflectable {
    @usableFromInline
    var customMirror: Mirror { Mirror(self, children: [], ancestorRepresentation: .suppressed) }
}

extension CommandQueueStorage: AnyCommandQueue {
    func cancel(_ command: PendingCommand) -> DispatchQueue? {
        CommandQueue(storage: self).cancel(command)
    }

    func state(of command: PendingCommand) -> PendingCommand.State {
        withWaiters { _ in command.currentState }
    }

    func timerFired() {
        change { $0.timerFired() }
    }

    func observe(_ isObserved: Bool) {
        change { $0.isObserved = isObserved }
    }

    private func change(_ change: (inout WaiterQueue) -> Void) {
        let queue = CommandQueue(storage: self)
        queue.update { waiters, effects in
            change(&waiters)
            queue.publish(&waiters, &effects)
        }
    }

    /// Nobody can resume the value any more: refuses the commands that wait, and tells those who listen that it has gone.
    private func dismissWaiters() {
        // Nobody else reaches these now.
        let (lanes, reference, listeners) = unsafe withUnsafeMutablePointerToElements { state in
            unsafe (state.pointee.waiters.allLanes, state.pointee.reference, state.pointee.listeners)
        }
        // With the lock also if nothing waits, so that handles see the states that the queue has left.
        let refused = reference?.end { lanes.map { $0.removeAll(.refused) } } ?? []
        listeners?.finish()
        for (lane, commands) in zip(lanes, refused) where !commands.isEmpty {
            lane.target.async {
                for command in commands { command.refuse(.valueContainerDeinited)?() }
            }
        }
    }
}
