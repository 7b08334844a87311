//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The turn of a value and the line for it, whatever the value is: all that is not on the fast path.
///
/// An object of its own, made when the turn is taken for the first time while another has it. Blocks keep the value;
/// timers and handles of commands keep only this, so none of them lets a value go.
@safe
@usableFromInline
final class TurnQueue {
    /// The turn word, in the storage of the value.
    let word: AtomicWord

    // Not to be used once the line is over.
    private unowned(unsafe) let owner: any AnyCommandQueue

    private let state: UnsafeMutablePointer<State>

    /// Submitting threads and the block of a lane write here at once: the lock and what is written without it stand on
    /// cache lines of their own.
    private struct State {
        var before = Padding()
        var lock: PlatformLock.Storage
        var line: Line
        var after = Padding()
        /// How many commands of target queues have begun, for each priority. Only what has the turn writes.
        var startedCounts: (
            AtomicWord.Storage, AtomicWord.Storage, AtomicWord.Storage, AtomicWord.Storage, AtomicWord.Storage
        )
    }

    init(word: AtomicWord, owner: any AnyCommandQueue, limit: Int) {
        self.word = word
        unsafe self.owner = owner
        unsafe state = .allocate(capacity: 1)
        unsafe PlatformLock.Storage.initialize(lock)
        unsafe line.initialize(to: Line(limit: limit))
        for priority in CommandPriority.allCases {
            unsafe startedCount(priority).storage.initialize(to: AtomicWord.zero)
        }
    }

    deinit {
        unsafe PlatformLock.Storage.deinitialize(lock)
        unsafe line.deinitialize(count: 1)
        unsafe state.deallocate()
    }
}

/// Keeps what is written by different threads on different cache lines.
struct Padding {
    private var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
}

// The line is guarded by its lock, the word is atomic.
extension TurnQueue: @unchecked Sendable {}

/// A command queue, whatever its value.
protocol AnyCommandQueue: AnyObject {
    var valueType: any Any.Type { get }

    /// Notes for listeners how a command leaves the value, or the value for those that begin with it; only with the
    /// turn.
    ///
    /// - Returns: What to do without the turn.
    func recordChange(_ isChange: Bool) -> Effect?
}

/// What is to be done without the turn: to tell a caller or listeners. What goes away with it may run any code.
@usableFromInline
struct Effect {
    let perform: () -> Void

    @usableFromInline
    init(_ perform: @escaping () -> Void) {
        self.perform = perform
    }
}

extension TurnQueue {
    // Addresses, and not `&state.pointee.lock`: that would be an access to all of it, and several threads must not have
    // one at once.

    private var lock: UnsafeMutablePointer<PlatformLock.Storage> {
        unsafe state.pointer(to: \.lock).unsafelyUnwrapped
    }

    private var line: UnsafeMutablePointer<Line> {
        unsafe state.pointer(to: \.line).unsafelyUnwrapped
    }

    /// How many commands of target queues have begun. Only what has the turn writes it.
    func startedCount(_ priority: CommandPriority) -> AtomicWord {
        let first = unsafe UnsafeMutableRawPointer(state.pointer(to: \.startedCounts).unsafelyUnwrapped)
        return unsafe AtomicWord(first.assumingMemoryBound(to: AtomicWord.Storage.self) + Int(priority.level) - 1)
    }

    var turn: TurnWord { TurnWord(bits: word.load()) }

    /// The turn in the graph of all waits. Not after the value has gone.
    var resource: WaitGraph.Resource { unsafe WaitGraph.Resource(kind: .turn, word: word, user: owner.valueType) }

    var valueType: any Any.Type { unsafe owner.valueType }

    /// The storage of the value, for what keeps it.
    var storage: AnyObject { unsafe owner }

    /// Looks at the line, or changes what the turn word does not tell.
    @inline(__always)
    func withLine<Answer>(_ body: (inout Line) -> Answer) -> Answer {
        unsafe PlatformLock.Storage.lockForMoment(lock)
        defer { unsafe PlatformLock.Storage.unlock(lock) }
        return unsafe body(&line.pointee)
    }

    /// Changes the line under its lock, publishes it in the turn word, and then sends for what is next.
    ///
    /// - Parameter change: Says what has the turn from now on, if that changes; 0 frees it.
    /// - Returns: What `change` returned.
    @inline(__always)
    func update<Answer>(_ change: (_ line: inout Line, _ holder: inout UInt64?) -> Answer) -> Answer {
        let (answer, sent) = withLine { line in
            var holder: UInt64?
            let answer = change(&line, &holder)
            return (answer, line.isOver ? nil : publish(&line, holder))
        }
        sent?.start()
        return answer
    }

    /// Rule 3 and rule 4, in one place: if the turn is free, the front is sent for; if it is owed, it is handed the turn.
    ///
    /// Invariant (true summary): without the lock, the word says what the line is.
    private func publish(_ line: inout Line, _ newHolder: UInt64?) -> Sent? {
        line.judgeFront()
        let front = line.front
        while true {
            let seen = turn
            var holder = newHolder ?? seen.holder
            let isFree = holder == 0 && line.suspensions == 0
            let isHanded = isFree && front?.state.isOwed == true
            if isHanded, let front {
                holder = front.identity
                // A lane stays in line: it can be late.
                if !front.isLane { line.waiters.remove(front) }
            }
            let next = line.word(holder: holder)
            if next == seen || word.exchange(seen.bits, for: next.bits) {
                guard isFree, let front, isHanded || !front.state.isSent else { return nil }
                return send(for: front, &line, withTurn: isHanded)
            }
            if isHanded, let front, !front.isLane { line.waiters.insert(front, front.priority, arrival: front.arrival) }
        }
    }

    /// Sends for the front, once, while the turn is free or its own.
    private func send(for front: Waiter, _ line: inout Line, withTurn isHanded: Bool) -> Sent? {
        let rests = !front.state.isLooking && !front.state.isSent
        front.state.isSent = true
        if rests, front.isLane {
            front.lane?.startBlock()
            front.state.sentTime = now()
            watch(&line)
        }
        let sent = rests ? sent(front) : nil
        if isHanded {
            front.state.isOwed = false
            // Last, as its thread may go on from here.
            front.hasTurn = true
        }
        return sent
    }

    /// What has to be started when the lock is free.
    @safe
    struct Sent {
        fileprivate let waiter: Waiter
        /// The number of the block that is dispatched, for a lane.
        fileprivate let block: Int
        /// Keeps the value for that block.
        fileprivate let owner: Unmanaged<AnyObject>?
        fileprivate let queue: TurnQueue
    }

    /// - Parameter waiter: A waiter that is about to be started. Under the lock, while the value is there: something
    ///   waits and is not suspended, and what keeps the value then needs the lock to go.
    func sent(_ waiter: Waiter) -> Sent {
        let lane = waiter.lane
        let kept = unsafe lane.map { _ in unsafe Unmanaged<AnyObject>.passUnretained(owner).retain() }
        return unsafe Sent(waiter: waiter, block: lane?.block ?? 0, owner: kept, queue: self)
    }
}

extension TurnQueue.Sent {
    /// Wakes the thread, resumes the task, or dispatches the block of the lane, which keeps the value.
    func start() {
        guard let lane = waiter.lane, let owner = unsafe owner else { return waiter.wake() }
        nonisolated(unsafe) let kept = unsafe owner
        lane.target.async { [queue, block] in
            unsafe withExtendedLifetime(kept.takeRetainedValue()) { queue.run(lane, block: block) }
        }
    }
}

// Taking the turn and freeing it.

extension TurnQueue {
    /// Takes the turn if a newcomer may have it, and looks a few times.
    ///
    /// - Parameters:
    ///   - priority: How early it gets its turn.
    ///   - holder: What gets the turn.
    ///   - backoff: The pauses between the looks.
    /// - Returns: Whether it has the turn.
    func tryToTakeTurn(_ priority: CommandPriority, as holder: UInt64, _ backoff: Backoff = .none) -> Bool {
        var backoff = backoff
        while true {
            let seen = turn
            if seen.mayBeTaken(by: priority) {
                if word.exchangeAcquiring(seen.bits, for: seen.held(by: holder).bits) { return true }
            } else if !backoff.pause() {
                return false
            }
        }
    }

    /// Takes a free turn for a waiter that is the front. Under the lock.
    func takeTurn(_ line: borrowing Line, for waiter: Waiter, as holder: UInt64) -> Bool {
        while line.front === waiter {
            let seen = turn
            if !seen.isFree || seen.isSuspended { return false }
            if word.exchangeAcquiring(seen.bits, for: seen.held(by: holder).bits) { return true }
        }
        return false
    }

    /// Gives back the turn of the caller.
    ///
    /// - Parameter isChange: Whether the value may have changed.
    @usableFromInline
    func giveTurnBack(afterChange isChange: Bool) {
        giveTurnBackToTell(afterChange: isChange)?.perform()
    }

    /// Gives back the turn of the caller.
    ///
    /// - Returns: What tells listeners, when the caller has given all its turns back.
    func giveTurnBackToTell(afterChange isChange: Bool) -> Effect? {
        let delivery = recordChange(isChange)
        while true {
            let seen = turn
            if seen.looks || seen.isObserved && isChange {
                update { line, holder in
                    holder = 0
                    if isChange { line.wakeWatchers() }
                }
                return delivery
            }
            if word.exchangeReleasing(seen.bits, for: seen.held(by: 0).bits) { return delivery }
        }
    }

    /// Notes for listeners how a command leaves the value; with the turn.
    func recordChange(_ isChange: Bool) -> Effect? {
        // A listener that comes after this look is behind the command.
        turn.isObserved ? unsafe owner.recordChange(isChange) : nil
    }

    /// The turn of the caller goes to a command that is not complete.
    func detachTurn() {
        while true {
            let seen = turn
            if word.exchange(seen.bits, for: seen.held(by: TurnWord.detached).bits) { return }
        }
    }

    /// Records the value for listeners that begin with it, if the turn is free. If not, freeing it does.
    func tellListenersThatBegin() {
        while true {
            let seen = turn
            guard seen.isFree, seen.isObserved else { return }
            if word.exchangeAcquiring(seen.bits, for: seen.held(by: TurnWord.currentThread).bits) {
                return giveTurnBack(afterChange: false)
            }
        }
    }

    /// Lets commands wait, once the running one is complete (rule 7).
    func suspend() {
        update { line, _ in line.suspensions += 1 }
    }

    /// Takes back one `suspend()`.
    ///
    /// - Returns: Whether there was one.
    func resume() -> Bool {
        update { line, _ in
            guard line.suspensions > 0 else { return false }
            line.suspensions -= 1
            watch(&line)
            return true
        }
    }
}
