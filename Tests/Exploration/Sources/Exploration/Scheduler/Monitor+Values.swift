//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// What the monitor sees inside of the values: whether the turn word says what is true of the line.

/// A value whose storage the monitor looks into for as long as that lives.
final class WatchedValue {
    private(set) weak var storage: CommandQueueStorage<Cell>?
    let word: UnsafeMutablePointer<AtomicWord.Storage>
    let lock: UnsafeMutablePointer<PlatformLock.Storage>
    /// The address of its state, which is the identity of its line.
    let line: UInt
    /// When the first command of each level came to the line that waits there, when its lock was given back last.
    var oldest: [UInt64] = []
    /// The latest lane of each target queue, and how many there were before.
    fileprivate var lanes: [UInt: (lane: Lane, age: UInt64)] = [:]

    init(_ storage: CommandQueueStorage<Cell>) {
        self.storage = storage
        unsafe word = storage.word(0).storage
        let lock = unsafe storage.withUnsafeMutablePointerToElements { unsafe CommandQueueState.lock($0) }
        unsafe self.lock = lock
        line = storage.turns.identity
        unsafe word.pointee.role = .turn
        unsafe storage.turns.bargingDeadline.storage.pointee.role = .deadline(lock)
        unsafe storage.turns.frontArrival.storage.pointee.role = .guarded(lock)
    }
}

extension WatchedValue {
    /// How many lanes of the same target queue there were before.
    func age(of lane: Lane) -> UInt64 {
        guard let known = lanes[lane.identity] else { return 0 }
        return known.lane === lane ? known.age : known.age + 1
    }

    func name(_ lane: Lane) {
        if lanes[lane.identity]?.lane !== lane { lanes[lane.identity] = (lane, age(of: lane)) }
    }
}

extension Monitor {
    /// While nobody has the lock of a line, the word and the deadline say what is true of it.
    func checkValues() {
        for number in watched.indices {
            guard let storage = watched[number].storage else { continue }
            unsafe storage.withUnsafeMutablePointerToElements { state in
                guard unsafe CommandQueueState.lock(state).pointee.holder == nil else { return }
                let turn = unsafe TurnWord(bits: state.pointee.word.bits)
                let summary = unsafe state.pointee.waiters.summary(holder: turn.holder)
                if turn != summary.turn {
                    world.fail("the word of value \(number) says \(turn.text), but its line \(summary.turn.text)")
                }
                if turn.isFree, turn.waiting != 0, !turn.hasSuccessor, !turn.isSuspended {
                    world.fail("value \(number) is free, somebody waits, and there is no successor")
                }
                if unsafe !state.pointee.waiters.hasTrueSuccessor {
                    world.fail("the successor of value \(number) is not its front")
                }
                if case .lane(let lane)? = unsafe state.pointee.waiters.successor, !lane.hasBlock {
                    world.fail("the successor of value \(number) is a lane without a block")
                }
                if turn.isFree,
                    unsafe state.pointee.waiters.allLanes.contains(where: { $0.granted > 0 && $0.grantLeft == 0 })
                {
                    world.fail("the turn of value \(number) is free, and its line counts commands that have begun")
                }
                if unsafe state.pointee.frontArrival.bits != summary.arrival {
                    world.fail("the front of value \(number) did not come when it is said to")
                }
                let deadline = unsafe (word: state.pointee.bargingDeadline.bits, line: summary.deadline.bits)
                // A block that returns to its queue makes room there, so the turn may be kept for longer than is said.
                let isKept = deadline.word & deadline.line & 0b111 == 0b111 && deadline.word < deadline.line
                if deadline.word != deadline.line, !isKept {
                    world.fail("the barging deadline of value \(number) is not that of its line")
                }
            }
        }
    }

    /// In every state.
    func lookForOverdueLanes() {
        let now = overdueNow
        if now | overdue == 0 { return }
        if now & ~overdue != 0, world.clock < World.beginning + limits.keeping { world.fail("a lane is overdue early") }
        if watched.indices.allSatisfy(lockIsFree(of:)) { overdue = now } else { overdue |= now }
    }

    /// The commands of lanes that have no place in line at the moment.
    var overdueNow: UInt64 { commands { $0.isOverdue } }

    /// The commands of lanes whose blocks are late, though the turn is kept for them at the moment.
    var lateNow: UInt64 {
        commands { lane in
            guard lane.misses < 2, case .dispatched(let start) = lane.block else { return false }
            return world.clock >= start + limits.keeping && !lane.blockHasLeft
        }
    }

    /// The commands that wait in some of the lanes, none of which is late in the beginning.
    private func commands(inLanesThat isMet: (Lane) -> Bool) -> UInt64 {
        guard world.clock >= World.beginning + limits.keeping else { return 0 }
        return notes.reduce(0) { mask, note in
            guard let pending = note.pending, pending.isWaiting, let lane = unsafe pending.lane, isMet(lane)
            else { return mask }
            return mask | 1 << note.command.index
        }
    }

    /// Whether the queue of a lane is known to start blocks late.
    func isSlow(_ lane: Lane) -> Bool { lane.delay > limits.keeping }

    func lockIsFree(of value: Int) -> Bool {
        guard let storage = watched[value].storage else { return true }
        return unsafe storage.withUnsafeMutablePointerToElements { state in
            unsafe CommandQueueState.lock(state).pointee.holder == nil
        }
    }

    /// Whether the holder of the turn that a command waits for waits, through others, for one that the calling thread
    /// has.
    func isInCircle(_ command: Command) -> Bool {
        var value = command.value
        for _ in watched {
            let holder = unsafe TurnWord(bits: watched[value].word.pointee.bits).holder
            if holder == TurnWord.currentThread { return value != command.value }
            guard let thread = world.threads.first(where: { $0.identity == holder }),
                let index = thread.notes.waits.last, notes[index].phase == .inLine, notes[index].command.timeout == .max
            else { return false }
            value = notes[index].command.value
        }
        return unsafe TurnWord(bits: watched[value].word.pointee.bits).holder == TurnWord.currentThread
    }

    /// What is still in the queue of a value, though nothing should be.
    func rest(of value: Int) -> String? {
        guard let storage = watched[value].storage else { return nil }
        return unsafe storage.withUnsafeMutablePointerToElements { state in
            let turn = unsafe TurnWord(bits: state.pointee.word.bits)
            if !turn.isFree { return "the turn is taken" }
            let waiters = unsafe state.pointee.waiters
            if waiters.count != 0 { return "\(waiters.count) commands wait" }
            if turn.waiting != 0 || turn.hasSuccessor { return "the word says \(turn.text)" }
            if !waiters.allLanes.isEmpty { return "a lane is left" }
            if unsafe state.pointee.frontArrival.bits != 0 { return "a lane is said to have commands" }
            return nil
        }
    }
}

extension TurnWord {
    fileprivate var text: String {
        "(holder \(String(holder >> 4, radix: 16)), waiting \(waiting)\(hasSuccessor ? ", successor" : "")"
            + "\(isSuspended ? ", suspended" : "")\(isObserved ? ", observed" : ""))"
    }
}
