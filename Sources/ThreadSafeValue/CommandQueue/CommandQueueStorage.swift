//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The value, its turn word and, once they are needed, the line and the listeners.
///
/// All that keeps it alive can use the value: handles of the value, schedules, running commands, dispatched blocks, waiting
/// threads and tasks. Pending commands do not, so a suspended value that nobody can resume goes away, and its commands
/// are refused.
@safe @usableFromInline final class CommandQueueStorage<Value>: ManagedBuffer<Value, AtomicWord.Storage> {
    // The value is the header, which ends by itself.
    deinit {
        (listenersWord.takeObject() as ChangeBroadcaster<Value>?)?.finish()
        (turnsWord.takeObject() as TurnQueue?)?.end()  // fault: a value that goes refuses nothing
        _ = spareWord.takeObject() as ManualCompletion?
    }

    /// Creates the storage of a value.
    ///
    /// - Parameters:
    ///   - value: What to queue for.
    ///   - limit: How many commands of target queues and tasks may wait in line.
    /// - Returns: The storage, with a free turn.
    static func make(_ value: Value, limit: Int) -> CommandQueueStorage {
        // `create` makes an object of the class that it is called on.
        let storage = unsafe unsafeDowncast(create(minimumCapacity: 6) { _ in value }, to: CommandQueueStorage.self)
        for index in 0..<6 { unsafe storage.word(index).storage.initialize(to: AtomicWord.zero) }
        storage.limitWord.store(UInt64(clamping: limit))
        return storage
    }
}

extension CommandQueueStorage {
    // The words behind the value. The first one is the `TurnWord`.

    @inlinable func word(_ index: Int) -> AtomicWord { unsafe AtomicWord(elementsPlace + index) }

    /// Keeps the `TurnQueue`, once something has waited.
    @inlinable var turnsWord: AtomicWord { word(1) }

    /// Keeps the `ChangeBroadcaster`, once somebody has listened.
    @inlinable var listenersWord: AtomicWord { word(2) }

    /// How many commands of queues and of tasks may wait.
    private var limitWord: AtomicWord { word(3) }

    // Most manual commands are complete when their closure returns, so the value keeps one end from command to command.

    private var spareWord: AtomicWord { word(5) }

    /// The end of a manual command, new or kept. Only with the turn.
    @usableFromInline func takeSpareCompletion() -> ManualCompletion { spareWord.takeObject() ?? ManualCompletion() }

    /// A command is complete: keeps its end, unless a copy of `done` is left. Only with the turn.
    @usableFromInline func keep(_ end: consuming ManualCompletion) {
        guard isKnownUniquelyReferenced(&end) else { return }  // fault: done: kept with a copy left
        end.reset()
        spareWord.keepObject(consume end)
    }

    /// All that does not ask for the value.
    @usableFromInline var turns: TurnQueue {
        // Word 4 counts the commands of queues that have begun.
        turnsWord.object {
            TurnQueue(word: word(0), startedCount: word(4), owner: self, limit: Int(clamping: limitWord.load()))
        }
    }

    /// The same without counting a reference: keep the storage while you use it. Threads that compete would write to
    /// the one count.
    @inlinable var uncountedTurns: Unmanaged<TurnQueue> {
        let bits = turnsWord.loadAcquiring()
        return unsafe bits == 0 ? Unmanaged.passUnretained(turns) : AtomicWord.unmanaged(bits)
    }

    /// The listeners to changes. The first listener makes this.
    var listeners: ChangeBroadcaster<Value> {
        listenersWord.object { [turns] in
            ChangeBroadcaster { isObserved in turns.update { $0.isListenedTo = isObserved } }
        }
    }
}

// Reflection would read the value without the turn.
extension CommandQueueStorage: CustomReflectable {
    @usableFromInline var customMirror: Mirror { Mirror(self, children: [], ancestorRepresentation: .suppressed) }
}

extension CommandQueueStorage: AnyCommandQueue {
    var valueType: any Any.Type { Value.self }

    @inlinable func recordChange() -> Notification? {
        let listeners: ChangeBroadcaster<Value>? = listenersWord.object()
        return unsafe (listeners?.record(headerPlace.pointee)).map { delivery in Notification { delivery.deliver() } }
    }
}
