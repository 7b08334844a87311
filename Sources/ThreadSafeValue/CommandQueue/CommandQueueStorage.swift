//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The value, its turn word and, once they are needed, the line and the listeners.
///
/// What keeps it alive can use the value: handles of the value, schedules, running commands, dispatched blocks, waiting
/// threads and tasks. Pending commands do not, so a suspended value that nobody can resume goes away, and its commands
/// are refused.
@safe @usableFromInline
final class CommandQueueStorage<Value>: ManagedBuffer<Value, AtomicWord.Storage> {
    // The value is the header, which ends by itself.
    deinit {
        (word(2).takeObject() as ChangeBroadcaster<Value>?)?.finish()
        (word(1).takeObject() as TurnQueue?)?.end()
    }

    /// Creates the storage of a value.
    ///
    /// - Parameters:
    ///   - value: What to queue for.
    ///   - limit: How many commands of target queues and tasks may wait in line.
    /// - Returns: The storage, with a free turn.
    static func make(_ value: Value, limit: Int) -> CommandQueueStorage {
        // `create` makes an object of the class that it is called on.
        let storage = unsafe unsafeDowncast(create(minimumCapacity: 5) { _ in value }, to: CommandQueueStorage.self)
        for index in 0..<5 { unsafe storage.word(index).storage.initialize(to: AtomicWord.zero) }
        storage.word(3).store(UInt64(clamping: limit))
        return storage
    }
}

extension CommandQueueStorage {
    /// The words behind the value: 0, the `TurnWord`; 1, what keeps the `TurnQueue`, once something has waited; 2, what
    /// keeps the `ChangeBroadcaster`, once somebody has listened; 3, how many commands of queues and of tasks may wait;
    /// 4, how many of queues have begun.
    @inlinable
    func word(_ index: Int) -> AtomicWord {
        unsafe AtomicWord(elementsPlace + index)
    }

    /// All that does not ask for the value.
    @usableFromInline
    var turns: TurnQueue {
        word(1).object {
            TurnQueue(word: word(0), startedCount: word(4), owner: self, limit: Int(clamping: word(3).load()))
        }
    }

    /// The same without counting a reference: keep the storage while you use it. Threads that compete would write to
    /// the one count.
    @inlinable
    var uncountedTurns: Unmanaged<TurnQueue> {
        let bits = word(1).loadAcquiring()
        return unsafe bits == 0 ? Unmanaged.passUnretained(turns) : AtomicWord.unmanaged(bits)
    }

    /// Those who listen to changes. Made when somebody does for the first time.
    var listeners: ChangeBroadcaster<Value> {
        word(2).object { [turns] in
            ChangeBroadcaster { isObserved in turns.update { $0.isListenedTo = isObserved } }
        }
    }
}

// Reflection would read the value without the turn.
extension CommandQueueStorage: CustomReflectable {
    @usableFromInline
    var customMirror: Mirror { Mirror(self, children: [], ancestorRepresentation: .suppressed) }
}

extension CommandQueueStorage: AnyCommandQueue {
    var valueType: any Any.Type { Value.self }

    func recordChange() -> Effect? {
        let listeners: ChangeBroadcaster<Value>? = word(2).object()
        return (listeners?.record(header)).map { delivery in Effect { delivery.deliver() } }
    }
}

extension TurnQueue {
    /// The value goes away. Nothing uses it any more: refuses the commands that still wait, as it is suspended.
    fileprivate func end() {
        let refused = withLine { line in line.end().map { ($0, $0.endAll(nil, as: .refused)) } }
        for (lane, commands) in refused where !commands.isEmpty {
            // There: what lets go of the value may have the turn of another one, which a closure that goes away waits
            // for.
            lane.target.async { lane.refuse(commands) }
        }
    }
}
