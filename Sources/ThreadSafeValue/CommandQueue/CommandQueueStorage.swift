//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The one allocation of a command queue that its fast path touches: the turn word and the value.
@safe
@usableFromInline
final class CommandQueueStorage<Value>: ManagedBuffer<CommandQueueHeader, Value> {
    deinit {
        unsafe value.deinitialize(count: 1)
    }
}

/// What stands before the value in a command queue's storage.
@safe
@usableFromInline
struct CommandQueueHeader {
    /// The `TurnWord`. The first member, so that it is found without a key path.
    var word = AtomicWord.zero

    /// The `PassingBound`. Written under the line's lock, and by the first newcomer who passes.
    var passingBound = AtomicWord.zero

    /// Who waits. Its lock is the lock of everything in the slow path.
    let line: Protected<WaitingLine>

    /// How a thread looks for the turn before it parks.
    let backoff: Backoff

    /// How many commands of target queues may wait in line.
    let limit: Int

    /// For how long newcomers may pass a waiting command of their priority, in nanoseconds.
    let passing: UInt64

    /// Whether newcomers may take a free turn while others wait.
    let allowsPassing: Bool
}

extension CommandQueueStorage {
    static func make(_ value: Value, patience: Patience, limit: Int) -> CommandQueueStorage {
        let buffer = create(minimumCapacity: 1) { _ in
            CommandQueueHeader(
                line: Protected(WaitingLine(patience: patience)),
                backoff: patience.backoff,
                limit: limit,
                passing: patience.passing,
                allowsPassing: patience.overtakings == nil
            )
        }
        // `create` makes an object of the class that it is called on.
        let storage = unsafe unsafeDowncast(buffer, to: CommandQueueStorage.self)
        unsafe storage.value.initialize(to: value)
        return storage
    }

    /// The turn word.
    @inlinable
    var word: AtomicWord {
        unsafe withUnsafeMutablePointerToHeader { header in
            unsafe AtomicWord(UnsafeMutableRawPointer(header).assumingMemoryBound(to: AtomicWord.Storage.self))
        }
    }

    var passingBound: AtomicWord {
        unsafe withUnsafeMutablePointerToHeader { header in
            let offset = MemoryLayout<CommandQueueHeader>.offset(of: \.passingBound)!
            let address = unsafe UnsafeMutableRawPointer(header) + offset
            return unsafe AtomicWord(address.assumingMemoryBound(to: AtomicWord.Storage.self))
        }
    }

    // Each member by its address: a copy of the whole header would read the words without their atomics.

    var line: Protected<WaitingLine> {
        unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.line }
    }

    var backoff: Backoff {
        unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.backoff }
    }

    var limit: Int {
        unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.limit }
    }

    var passing: UInt64 {
        unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.passing }
    }

    var allowsPassing: Bool {
        unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.allowsPassing }
    }

    /// Where the value is: only for whoever has the turn.
    @inlinable
    var value: UnsafeMutablePointer<Value> {
        unsafe withUnsafeMutablePointerToElements { unsafe $0 }
    }
}

extension CommandQueueStorage: LaneOwner {
    func settleLine() {
        CommandQueue(storage: self).summonNext()
    }
}
