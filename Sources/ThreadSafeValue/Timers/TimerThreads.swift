//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#endif

/// What is told when a time has come. It does not keep the object that it tells.
package protocol TimerTarget: Sendable {
    /// Tells the object, if it is still there. What follows may run any code.
    func timerFired()
}

/// Timers, and the threads that tell their targets: a leader and its followers.
///
/// The leader sleeps until the next time. Before it tells a target, which may run any code and wait for other timers,
/// it makes another thread the leader. Whoever has told one tells the next, if that is due. While that goes on, a leader
/// joins in each millisecond, so that thousands of timers at once do not make thousands of threads. Not on dispatch
/// queues: the timers are there for when the pools of threads are full.
///
/// Invariant (no late timer): while there are timers there is a leader, and neither the leader nor the follower tells
/// anybody; unless the system has no thread to give, when the first that has told its target leads.
package struct TimerThreads: Sendable {
    static let shared = TimerThreads()

    /// For how long a leader leaves the timers that are due to the threads that tell targets, in nanoseconds.
    package static let telling: UInt64 = 1_000_000

    package struct State {
        private(set) var timers = TimerHeap()
        package private(set) var leader: Parker?
        /// The thread that sleeps until it is the leader.
        package private(set) var follower: Parker?
        /// How many threads tell targets, and until when the leader leaves the other timers to them.
        private var tellerCount = 0
        private var tellerDeadline: UInt64 = 0
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
        update { $0.insert(timer) }?.wake()
        return timer
    }

    /// Takes a timer out, if it has not fired.
    ///
    /// - Complexity: O(1) on average.
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
            case .tell(let timer): timer.target.timerFired()
            case .sleep(let time): _ = thread.park(until: time)
            case .end: return
            }
        }
    }

    /// Changes the state, and wakes or starts the leader if another is needed.
    private func update<Answer>(_ change: (inout State) -> Answer) -> Answer {
        let (answer, leader) = state.write { state in (change(&state), state.findLeader()) }
        if let leader {
            if leader.isNew { start(leader.thread) } else { leader.thread.wake() }
        }
        return answer
    }

    private func start(_ leader: Parker) {
        let code = startThread { run(leader) }
        if code == 0 { return }
        let other = state.write { $0.losesLeader() }
        if other.isOnly { fatalError("ThreadSafeValue: pthread_create failed with code \(code)") }
        other.leader?.wake()
    }
}

extension TimerThreads.State {
    /// - Returns: The thread to wake, as this is the first timer now.
    package mutating func insert(_ timer: Timer) -> Parker? {
        timers.insert(timer)
        return timers.first === timer ? leader : nil
    }

    mutating func remove(_ timer: Timer) {
        timers.remove(timer)
    }

    /// What a thread that is awake does next. It may have been woken once too often: by who saw it lead before.
    package mutating func nextStep(of thread: Parker, at time: UInt64) -> TimerThreads.Step {
        let tells = leader !== thread && follower !== thread
        if tells { tellerCount -= 1 }
        if leader === thread { leader = nil }
        if follower === thread { follower = nil }
        if tells || tellerCount == 0 || time >= tellerDeadline, let timer = timers.takeFirst(dueAt: time) {
            if !tells { tellerDeadline = time + TimerThreads.telling }
            tellerCount += 1
            return .tell(timer)
        }
        if leader == nil {
            leader = thread
            let next = timers.first?.time ?? .max
            return .sleep(until: next <= time ? tellerDeadline : next)
        }
        if follower == nil {
            follower = thread
            return .sleep(until: .max)
        }
        threadCount -= 1
        return .end
    }

    /// Makes the follower the leader, or a new thread, if there are timers and nobody leads.
    package mutating func findLeader() -> (thread: Parker, isNew: Bool)? {
        if leader != nil || timers.first == nil { return nil }
        let isNew = follower == nil
        let thread = follower ?? Parker()
        (leader, follower) = (thread, nil)
        if isNew { threadCount += 1 }
        return (thread, isNew)
    }

    /// The new leader could not be started.
    fileprivate mutating func losesLeader() -> (leader: Parker?, isOnly: Bool) {
        // A follower may have come back meanwhile.
        (leader, follower) = (follower, nil)
        threadCount -= 1
        return (leader, threadCount == 0)
    }
}

/// Runs `body` on a new thread, which leaves nothing behind when it ends.
///
/// - Returns: 0, or the code with which the system refused.
private func startThread(_ body: @escaping @Sendable () -> Void) -> CInt {
    final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    #if canImport(Darwin)
    var thread: pthread_t?
    #else
    var thread = pthread_t()
    #endif
    let start = unsafe Unmanaged.passRetained(Start(body))
    let code = unsafe pthread_create(
        &thread,
        nil,
        { argument in
            let argument: UnsafeMutableRawPointer? = unsafe argument
            unsafe Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue().body()
            return nil
        },
        start.toOpaque()
    )
    guard code == 0 else {
        unsafe start.release()
        return code
    }
    #if canImport(Darwin)
    unsafe pthread_detach(thread!)
    #else
    pthread_detach(thread)
    #endif
    return 0
}
