//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The commands for one target queue, and the one block that is dispatched there at a time.
///
/// It stands in line at the place of its first command, also while its block runs one. Guarded by the lock of the line,
/// but for what belongs to its block.
@safe
final class Lane: Waiter, @unchecked Sendable {
    let target: DispatchQueue

    /// What tells the target from other queues.
    let targetIdentity: UInt

    /// The turn that its commands wait for.
    let turns: TurnQueue

    /// A block is on its way, or runs.
    var hasBlock = false

    /// The number of the block that was dispatched last. Others have been replaced.
    private(set) var block = 0

    /// How many words of the block there were when the timer looked.
    var tellsAtLook: UInt64 = 0

    @exclusivity(unchecked) private var uncheckedCommands = LaneCommands()

    @inline(__always)
    var commands: LaneCommands {
        get { unsafe uncheckedCommands }
        _modify { yield unsafe &uncheckedCommands }
    }

    private let tellWord: UnsafeMutablePointer<AtomicWord.Storage>

    init(target: DispatchQueue, of turns: TurnQueue) {
        self.target = target
        targetIdentity = target.identity
        self.turns = turns
        unsafe tellWord = .allocate(capacity: 1)
        unsafe tellWord.initialize(to: AtomicWord.zero)
        super.init(kind: .queue)
        identity = unsafe UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) & identityBits
    }

    deinit {
        unsafe tellWord.deallocate()
    }
}

extension Lane {
    /// Counts up when the block begins to tell somebody, and when it ends: odd in between.
    var tells: AtomicWord { unsafe AtomicWord(tellWord) }

    /// A new block is about to be dispatched.
    func startBlock() {
        hasBlock = true
        block += 1
    }
}
