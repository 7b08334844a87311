//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The turn of a command queue and the line for it, whatever the value is: all that is not on the fast path.
///
/// Not generic, because the compiler specialises nothing here for the type of a value: each step would have to look up what it
/// needs to know of that. And without a reference of its own, as each step would count it up and down: whoever uses it keeps the
/// storage meanwhile.
@safe
@usableFromInline
struct TurnQueue {
    private let state: UnsafeMutablePointer<CommandQueueState>

    @usableFromInline
    init(state: UnsafeMutablePointer<CommandQueueState>) {
        unsafe self.state = state
    }
}

// The state is reached only by atomics or under its lock.
extension TurnQueue: @unchecked Sendable {}

extension TurnQueue {
    /// The storage, which holds the state.
    var owner: any AnyCommandQueue { unsafe state.pointer(to: \.owner).unsafelyUnwrapped.pointee.queue }

    var word: AtomicWord { unsafe CommandQueueState.word(0, of: state) }

    var bargingDeadline: AtomicWord { unsafe CommandQueueState.word(1, of: state) }

    var submitters: AtomicWord { unsafe CommandQueueState.word(2, of: state) }

    var policy: HandoffPolicy { unsafe state.pointer(to: \.policy).unsafelyUnwrapped.pointee }

    /// Runs `body` under the lock.
    @inline(__always)
    func withWaiters<Answer>(_ body: (inout WaiterQueue) -> Answer) -> Answer {
        unsafe PlatformLock.Storage.lock(CommandQueueState.lock(state))
        defer { unsafe PlatformLock.Storage.unlock(CommandQueueState.lock(state)) }
        return unsafe body(&CommandQueueState.waiters(state).pointee)
    }

    /// What handles and timers keep instead of the owner.
    func weakReference() -> QueueReference {
        unsafe CommandQueueState.word(3, of: state).object { QueueReference(to: owner) }
    }

    func state(of command: PendingCommand) -> PendingCommand.State {
        withWaiters { _ in command.currentState }
    }

    /// The time of the successor is over.
    func timerFired() {
        update { waiters, _ in waiters.timerFired() }
    }

    /// The first listener has come, or the last one has gone.
    func observe(_ isObserved: Bool) {
        update { waiters, _ in waiters.isObserved = isObserved }
    }
}
