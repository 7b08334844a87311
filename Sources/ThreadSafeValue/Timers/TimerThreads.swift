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
protocol TimerTarget: Sendable {
    /// Tells the object, if it is still there. What follows may run any code.
    func timerFired()
}

/// Timers, and the threads that tell their targets: a leader and its followers.
///
/// The leader sleeps until the next time. Before it tells a target, which may run any code and wait for other timers,
/// it makes another thread the leader. Not on dispatch queues: the timers are there for when the pools of threads are
/// full.
///
/// Invariant (no late timer): while there are timers there is a leader, which tells nobody; unless the system has no
/// thread to give, when the first that has told its target leads.
struct TimerThreads: Sendable {
    static let shared = TimerThreads()

    fileprivate struct State {
        var timers = TimerHeap()
        var leader: Parker?
        /// The thread that sleeps until it is the leader.
        var follower: Parker?
        var threadCount = 0
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
        let leader = update { state in
            state.timers.insert(timer)
            return state.timers.first === timer ? state.leader : nil
        }
        leader?.wake()
        return timer
    }

    /// Takes a timer out, if it has not fired.
    ///
    /// - Complexity: O(1) on average.
    func remove(_ timer: Timer) {
        state.write { $0.timers.remove(timer) }
    }
}

extension TimerThreads {
    fileprivate enum Step {
        case tell(Timer)
        case sleep(until: UInt64)
        case end
    }

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
        let (answer, leader, isNew) = state.write { state in
            let answer = change(&state)
            if state.leader != nil || state.timers.first == nil { return (answer, nil as Parker?, false) }
            let follower = state.follower
            (state.leader, state.follower) = (follower ?? Parker(), nil)
            if follower == nil { state.threadCount += 1 }
            return (answer, state.leader, follower == nil)
        }
        if let leader {
            if isNew { start(leader) } else { leader.wake() }
        }
        return answer
    }

    private func start(_ leader: Parker) {
        let code = startThread { run(leader) }
        if code == 0 { return }
        let (other, isOnly) = state.write { state in
            // It may have come back meanwhile.
            (state.leader, state.follower) = (state.follower, nil)
            state.threadCount -= 1
            return (state.leader, state.threadCount == 0)
        }
        if isOnly { fatalError("ThreadSafeValue: pthread_create failed with code \(code)") }
        other?.wake()
    }
}

extension TimerThreads.State {
    fileprivate mutating func nextStep(of thread: Parker, at time: UInt64) -> TimerThreads.Step {
        if let timer = timers.takeFirst(dueAt: time) {
            if leader === thread { leader = nil }
            return .tell(timer)
        }
        if leader == nil || leader === thread {
            leader = thread
            return .sleep(until: timers.first?.time ?? .max)
        }
        if follower == nil || follower === thread {
            follower = thread
            return .sleep(until: .max)
        }
        threadCount -= 1
        return .end
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
