//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The value, its turn word and, once they are needed, the line and the listeners.
///
/// What keeps it alive can use the value: handles of the value, schedules, running commands, dispatched blocks, waiting
/// threads and tasks. Pending commands do not, so a suspended value that nobody can resume goes away, and its commands
/// are refused.
@safe
@usableFromInline
final class CommandQueueStorage<Value>: ManagedBuffer<Value, CommandQueueState> {
    // The value is the header, which ends by itself.
    deinit {
        dismiss()
    }

    static func make(_ value: Value, limit: Int) -> CommandQueueStorage {
        let buffer = create(minimumCapacity: 1) { _ in value }
        // `create` makes an object of the class that it is called on.
        let storage = unsafe unsafeDowncast(buffer, to: CommandQueueStorage.self)
        unsafe storage.withUnsafeMutablePointerToElements { state in
            let zero = AtomicWord.zero
            unsafe state.initialize(to: CommandQueueState(word: zero, turns: zero, listeners: zero, limit: limit))
        }
        BufferAddress(of: storage).check(storage)
        return storage
    }
}

/// What stands behind the value in a command queue's storage, at a place that never changes.
@safe
@usableFromInline
struct CommandQueueState {
    // The words stand first, so that they are found without a key path.

    /// The `TurnWord`.
    var word: AtomicWord.Storage

    /// Keeps the `TurnQueue`, once something has waited.
    var turns: AtomicWord.Storage

    /// Keeps the `ChangeBroadcaster`, once somebody has listened.
    var listeners: AtomicWord.Storage

    /// How many commands of queues and of tasks may wait.
    let limit: Int
}

extension CommandQueueState {
    /// One of the words that the state begins with.
    @inlinable
    @_transparent
    static func word(_ index: Int, of state: UnsafeMutablePointer<Self>) -> AtomicWord {
        unsafe AtomicWord(UnsafeMutableRawPointer(state).assumingMemoryBound(to: AtomicWord.Storage.self) + index)
    }
}

extension CommandQueueStorage {
    private func word(_ index: Int) -> AtomicWord {
        unsafe CommandQueueState.word(index, of: BufferAddress(of: self).elements)
    }

    /// All that does not ask for the value. Keep the storage while you use it.
    @usableFromInline
    var turns: TurnQueue {
        word(1).object {
            let limit = unsafe BufferAddress(of: self).elements.pointer(to: \.limit).unsafelyUnwrapped.pointee
            return TurnQueue(word: word(0), owner: self, limit: limit)
        }
    }

    /// Those who listen to changes. Made when somebody does for the first time.
    var listeners: ChangeBroadcaster<Value> {
        word(2).object {
            let turns = turns
            return ChangeBroadcaster { isObserved in turns.update { line, _ in line.isObserved = isObserved } }
        }
    }

    /// Where the value is: only with the turn.
    var value: UnsafeMutablePointer<Value> { unsafe BufferAddress(of: self).header }

    /// Nothing uses the value any more: refuses the commands that still wait, as it is suspended, and tells those who
    /// listen that it has gone.
    private func dismiss() {
        let listeners: ChangeBroadcaster<Value>? = word(2).takeObject()
        listeners?.finish()
        let turns: TurnQueue? = word(1).takeObject()
        turns?.end()
    }
}

// Reflection would read the value without the turn.
extension CommandQueueStorage: CustomReflectable {
    @usableFromInline
    var customMirror: Mirror { Mirror(self, children: [], ancestorRepresentation: .suppressed) }
}

extension CommandQueueStorage: AnyCommandQueue {
    var valueType: any Any.Type { Value.self }

    func recordChange(_ isChange: Bool) -> Effect? {
        let listeners: ChangeBroadcaster<Value>? = word(2).object()
        guard let delivery = unsafe listeners?.record(value.pointee, isChange: isChange) else { return nil }
        return Effect { delivery.deliver() }
    }
}

extension TurnQueue {
    /// The value goes away.
    fileprivate func end() {
        let refused = withLine { line in
            line.isOver = true
            return line.lanes.removeAll().map { ($0, $0.commands.endAll(nil, as: .refused)) }
        }
        for (lane, commands) in refused where !commands.isEmpty {
            // There: what lets go of the value may have the turn of another one, which a closure that goes away waits for.
            lane.target.async { lane.refuse(commands) }
        }
    }
}
