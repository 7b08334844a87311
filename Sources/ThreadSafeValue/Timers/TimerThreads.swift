//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CThread

#if canImport(ObjectiveC)
import ObjectiveC
#endif

/// Timers, and the threads that tell their targets: a leader and its followers.
///
/// The leader sleeps until the next time. Before it tells a target, which may run any code and wait for other timers,
/// it makes another thread the leader. Whoever has told one tells the next, if that is due. While that goes on, a
/// leader joins in after as many milliseconds as threads tell, so that thousands of timers at once do not make
/// thousands of threads. Not on dispatch queues: the timers are there for when the pools of threads are full.
///
/// Invariant (no late timer): while there are timers there is a leader, and neither the leader nor the follower tells
/// anybody; unless the system has no thread to give, when the first that has told its target leads.
package struct TimerThreads: Sendable {
    /// For time-outs of tasks, whose executors may be slow.
    static let timeouts = TimerThreads()

    /// For turns that are kept for too long. Thousands of time-outs at once do not hold them up.
    static let turns = TimerThreads()

    /// For how long a leader leaves the timers that are due to each thread that tells targets, in nanoseconds.
    package static let telling: UInt64 = 1_000_000

    package struct State {
        private(set) var timers = IndexedHeap<Timer>()
        package private(set) var leader: Parker?
        /// When the leader wakes by itself; 0 while it is awake, or about to be.
        private var leaderTime: UInt64 = 0
        /// The thread that sleeps until it is the leader.
        package private(set) var follower: Parker?
        /// How many threads tell targets, and when the latest of them joined in.
        private var tellerCount: UInt64 = 0
        private var latestJoin: UInt64 = 0
        private var threadCount = 0

        package init() {}
    }

    package enum Step {
        case tell(Timer)
        case sleep(until: UInt64)
        case end
    }

    private let state = Protected(State())
}

extension TimerThreads {
    /// Calls `timerFired` of a target once, soon after `time` of `now()`.
    ///
    /// - Returns: The timer, to be removed when it is not needed any more.
    /// - Complexity: O(log number of timers).
    @discardableResult
    func set(_ time: UInt64, for target: any TimerTarget) -> Timer {
        let timer = Timer(time, target)
        update { $0.insert(timer) }
        return timer
    }

    /// Takes a timer out, if it has not fired.
    ///
    /// - Complexity: O(log number of timers).
    func remove(_ timer: Timer) {
        state.write { $0.remove(timer) }
    }
}

extension TimerThreads {
    /// What a thread does for as long as it is needed.
    private func run(_ thread: Parker) {
        while true {
            let time = now()
            switch update({ $0.nextStep(of: thread, at: time) }) {
            case .tell(let timer): tell(timer.target)
            case .sleep(let time): _ = thread.park(until: time)
            case .end: return
            }
        }
    }

    /// Changes the state, and wakes or starts the leader if it is needed.
    private func update<Answer>(_ change: (inout State) -> Answer) -> Answer {
        let (answer, leader) = state.write { state in (change(&state), state.findLeader()) }
        if let leader {
            if leader.isNew { start(leader.thread) } else { leader.thread.wake() }
        }
        return answer
    }

    private func tell(_ target: any TimerTarget) {
        #if canImport(ObjectiveC)
        // The thread may never end.
        autoreleasepool { target.timerFired() }
        #else
        target.timerFired()
        #endif
    }

    /// Starts the leader. The system may have no thread to give for a moment: without any other thread of the timers,
    /// the caller tries again for a second.
    private func start(_ leader: Parker) {
        var (leader, code) = (leader, CInt(0))
        for _ in 0..<1_000 {
            code = startThread { [leader] in run(leader) }
            if code == 0 { return }
            let other = state.write { $0.losesLeader() }
            if !other.isOnly {
                other.leader?.wake()
                return
            }
            _ = leader.park(until: now() &+ 1_000_000)
            guard let next = state.write({ $0.findLeader() }) else { return }
            leader = next.thread
        }
        fatalError("ThreadSafeValue: pthread_create fails with code \(code): raise the process's limit of threads")
    }
}

extension TimerThreads.State {
    package mutating func insert(_ timer: Timer) {
        timers.update(timer)
    }

    package mutating func remove(_ timer: Timer) {
        timers.remove(timer)
    }

    /// What a thread that is awake does next. It may have been woken once too often: by who saw it lead before.
    package mutating func nextStep(of thread: Parker, at time: UInt64) -> TimerThreads.Step {
        let tells = leader !== thread && follower !== thread
        if tells { tellerCount -= 1 }
        if leader === thread { leader = nil }
        if follower === thread { follower = nil }
        if tells || time >= tellerDeadline, let timer = timers.first, timer.time <= time {
            timers.remove(timer)
            if !tells { latestJoin = time }
            tellerCount += 1
            return .tell(timer)
        }
        if leader == nil {
            leader = thread
            leaderTime = neededTime ?? .max
            return .sleep(until: leaderTime)
        }
        if follower == nil {
            follower = thread
            return .sleep(until: .max)
        }
        threadCount -= 1
        return .end
    }

    /// Until when the leader leaves the timers that are due to the threads that tell.
    private var tellerDeadline: UInt64 { tellerCount == 0 ? 0 : latestJoin + tellerCount * TimerThreads.telling }

    /// When a leader is needed next; `nil` if there are no timers.
    private var neededTime: UInt64? { timers.first.map { max($0.time, tellerDeadline) } }

    /// The leader, if it sleeps for too long; or if nobody leads and there are timers the follower, or a new thread,
    /// which is the leader from now on.
    ///
    /// - Returns: The thread to wake, or to start.
    package mutating func findLeader() -> (thread: Parker, isNew: Bool)? {
        guard let neededTime, leader == nil || neededTime < leaderTime else { return nil }
        leaderTime = 0
        if let leader { return (leader, false) }
        let isNew = follower == nil
        let thread = follower ?? Parker()
        (leader, follower) = (thread, nil)
        if isNew { threadCount += 1 }
        return (thread, isNew)
    }

    /// The new leader could not be started.
    fileprivate mutating func losesLeader() -> (leader: Parker?, isOnly: Bool) {
        // A follower may have come back meanwhile.
        (leader, follower, leaderTime) = (follower, nil, 0)
        threadCount -= 1
        return (leader, threadCount == 0)
    }
}

/// Runs `body` on a new thread, which leaves nothing behind when it ends. Others than the caller need it, so it does not
/// inherit its system priority, nor the cores that it is pinned to.
///
/// - Returns: 0, or the code with which the system refused.
private func startThread(_ body: @escaping @Sendable () -> Void) -> CInt {
    final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let start = unsafe Unmanaged.passRetained(Start(body))
    let code = unsafe CThreadStart(
        { argument in
            unsafe CThreadBecomeNormal("value timers")
            unsafe Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue().body()
            return nil
        },
        start.toOpaque()
    )
    if code != 0 { unsafe start.release() }
    return code
}
