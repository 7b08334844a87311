//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The library's own lock, which the threads of a scenario take, and what it guards.
///
/// No thread looks for itself here: if none can go on before one would, a wake-up was lost.
final class LockSubject: @unchecked Sendable {
    private let lock = WordLock()
    private var user: Int?
    private let guarded = world.newObject()
    /// The threads that have slept for the lock and do not have it yet.
    private var sleepers: [UInt64: Sleeper] = [:]

    func use(isTimed: Bool) {
        let start = world.clock
        world.current.isTimed = isTimed
        if isTimed {
            guard lock.lock(until: now() + 1_000) else { return sleepers[world.current.identity] = nil }
        } else {
            lock.lock()
        }
        if world.clock - start >= HandoffPolicy.circle { world.fail("nobody woke a thread that waits for the lock") }
        sleepers[world.current.identity] = nil
        if let user { world.fail("a thread has the lock that thread \(user) has") }
        user = world.current.index
        world.memory.access(guarded, "what the lock guards")
        world.pass(.run("use what the lock guards", 0))
        user = nil
        lock.unlock()
    }

    /// All that a mutex of the lock guards, if it is one.
    func contents(of mutex: PlatformLock) -> UInt64? {
        let word = unsafe WordLock.Storage.queue(lock.cell.storage).storage.pointee.bits
        guard word != 0 else { return nil }
        let queue: SleeperQueue = unsafe AtomicWord.unmanaged(word).takeUnretainedValue()
        guard queue.mutex === mutex else { return nil }
        for sleeper in queue.line.sleepers { sleepers[sleeper.thread] = sleeper }
        let byArrival = sleepers.values.sorted { $0.arrival < $1.arrival }
        // Those that fall asleep at one time are numbered, in no more than a microsecond.
        let known = byArrival.reduce(queue.line.fairness.latest) { sum, sleeper in
            mix(mix(sum, sleeper.thread), sleeper.arrival / 1_000 << 1 | (sleeper.isOwner ? 1 : 0))
        }
        return queue.line.threads.reduce(known) { mix($0, $1) }
    }
}
