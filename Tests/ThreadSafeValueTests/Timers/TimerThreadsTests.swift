//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("TimerThreads")
struct TimerThreadsTests {
    /// Each value is let go about when its timer fires, which has a reference to it for a moment. That is seldom the
    /// last one, so there are many values; a mistake may be overlooked, but what is found is one.
    @Test("A value that goes away while its timer fires may wait for what other timers do")
    func lastReference() throws {
        let answers = try inTime {
            let answers = Log<Result<Int, QueueSafeValueError>>()
            for _ in 0..<3 { letGo(1_000, answers) }
            return answers.entries
        }
        #expect(answers.allSatisfy { $0 == .success(0) })
    }

    /// A thread that was seen to lead may be woken when it leads no more.
    @Test("One thread leads while there are timers, wakes in time and tells nobody, nor does the follower")
    func leader() {
        var random = SeededRandom()
        for _ in 0..<2_000 {
            var state = TimerThreads.State()
            var time: UInt64 = 0
            var timers: [(timer: ThreadSafeValue.Timer, time: UInt64)] = []
            var threads: [(thread: Parker, tells: Bool)] = []
            // Until when the leader sleeps; 0 if it was woken.
            var sleep: UInt64 = 0
            for _ in 0..<100 {
                switch Int.random(in: 0..<6, using: &random) {
                case 0:
                    let next = time + .random(in: 0..<2_000_000, using: &random)
                    timers.append((Timer(next, Nobody()), next))
                    state.insert(timers.last!.timer)
                case 1:
                    time += .random(in: 0..<1_000_000, using: &random)
                case 2:
                    guard let timer = timers.randomElement(using: &random)?.timer else { continue }
                    timers.removeAll { $0.timer === timer }
                    state.remove(timer)
                default:
                    guard let index = threads.indices.randomElement(using: &random) else { continue }
                    switch state.nextStep(of: threads[index].thread, at: time) {
                    case .tell(let timer):
                        threads[index].tells = true
                        let told = timers.first { $0.timer === timer }?.time
                        #expect(told == timers.map { $0.time }.min(), "TEST_SEED=\(random.seed)")
                        timers.removeAll { $0.timer === timer }
                    case .sleep(let end):
                        threads[index].tells = false
                        if state.leader === threads[index].thread { sleep = end }
                    case .end: threads.remove(at: index)
                    }
                }
                if let leader = state.findLeader() {
                    #expect(leader.thread === state.leader, "TEST_SEED=\(random.seed)")
                    if leader.isNew { threads.append((leader.thread, false)) }
                    sleep = 0
                    // Once.
                    #expect(state.findLeader() == nil, "TEST_SEED=\(random.seed)")
                }
                if let next = timers.map({ $0.time }).min() {
                    let tellers = UInt64(threads.count { $0.tells })
                    #expect(sleep <= max(next, time + tellers * TimerThreads.telling), "TEST_SEED=\(random.seed)")
                }
                for (thread, tells) in threads where tells {
                    #expect(state.leader !== thread && state.follower !== thread, "TEST_SEED=\(random.seed)")
                }
                #expect(timers.isEmpty || state.leader != nil, "TEST_SEED=\(random.seed)")
            }
        }
    }

    /// Otherwise a thread would be made for each of them, faster than they can be told.
    @Test("Timers that are due at once are told by one thread, and by one more after a millisecond for each that tells")
    func dueAtOnce() throws {
        var state = TimerThreads.State()
        for _ in 0..<10 { state.insert(Timer(0, Nobody())) }
        func tells(_ thread: Parker, _ time: UInt64) -> Bool {
            if case .tell = state.nextStep(of: thread, at: time) { true } else { false }
        }
        var (leader, tellers): (Parker?, [Parker]) = (state.findLeader()?.thread, [])
        var time: UInt64 = 0
        for count in 0..<3 {
            time += UInt64(count) * TimerThreads.telling
            let thread = try #require(leader)
            #expect(count == 0 || !tells(thread, time - 1))
            #expect(tells(thread, time))
            tellers.append(thread)
            leader = state.findLeader()?.thread
            #expect(try !tells(#require(leader), time))
            #expect(tellers.allSatisfy { tells($0, time) })
        }
    }

    /// To resume a task calls its executor on the thread that tells it, here executors that wait meanwhile.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("Tasks that are slow to go on when their time is over hold up no other timer")
    func slowExecutors() throws {
        let answers = try inTime {
            let (mayGoOn, end) = (Door(), DispatchGroup())
            for _ in 0..<4 { holdUpTimerThread(until: mayGoOn, end) }
            let other = QueueSafeValue(value: 1)
            let queue = DispatchQueue(label: "suspended")
            queue.suspend()
            other.async(performIn: queue).highestPriority.set { $0 += 1 }
            let answer = other.wait(timeout: .seconds(20)).lowestPriority.get()
            let (awaited, isTold) = (Log<Result<Int, QueueSafeValueError>>(), Door())
            OwnThreads.run {
                awaited.add(await suspended().async(timeout: .milliseconds(1)).lowestPriority.get())
                isTold.open()
            }
            isTold.waitUntilOpen()
            mayGoOn.open()
            end.wait()
            queue.resume()
            return [answer] + awaited.entries
        }
        #expect(answers == [.success(1), .failure(.timedOut)])
    }

    #if os(Linux) && canImport(Glibc)
    /// Here the process has no addresses for another stack.
    @Test("Timers fire when the system had no thread to give for a moment", .disabled(if: isSanitized))
    func noThread() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let (value, queue) = (QueueSafeValue(value: 1), DispatchQueue(label: "suspended"))
            let hasLimit = DispatchSemaphore(value: 0)
            let other = Thread {
                hasLimit.wait()
                usleep(50_000)
                limitAddresses(to: .max)
            }
            other.start()
            _ = value.wait.lowestPriority.get()
            queue.suspend()
            value.async(performIn: queue).highestPriority.set { $0 += 1 }
            limitAddresses(to: try addressSpace() + 1_000_000)
            hasLimit.signal()
            // A timer ends the time of the queue.
            let answer = value.wait.lowestPriority.get()
            _exit(answer == .success(1) ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    /// Others need the threads when that one works on, or has ended. Here it is nice, has no normal policy, and is
    /// pinned to one core.
    @Test("The threads of the timers do not inherit the system priority and the cores of who starts them")
    func inheritsNothing() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let batchPolicy: CInt = 3
            let main = try SchedulingOfThread("self")
            let (starts, mayBeNormal) = (Log<SchedulingOfThread>(), Log<Bool>())
            let thread = RunningThread {
                var core: UInt = 1
                while unsafe sched_setaffinity(0, 8, &core) != 0 { core <<= 1 }
                var priority = sched_param(sched_priority: 0)
                unsafe sched_setscheduler(0, batchPolicy, &priority)
                setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 5)
                // It needs no timer if it is stopped for 5 ms before it waits.
                while SchedulingOfThread.timers.isEmpty {
                    let (value, queue) = (QueueSafeValue(value: 1), DispatchQueue(label: "suspended"))
                    queue.suspend()
                    value.async(performIn: queue).highestPriority.set { $0 += 1 }
                    _ = value.wait.lowestPriority.get()
                    queue.resume()
                }
                if let own = try? SchedulingOfThread("thread-self") { starts.add(own) }
                mayBeNormal.add(setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, main.niceness) == 0)
            }
            thread.join()
            precondition(!SchedulingOfThread.timers.isEmpty)
            for timer in SchedulingOfThread.timers {
                let niceness = mayBeNormal.entries == [true] ? main.niceness : 5
                precondition(timer.cores == main.cores, "\(timer)")
                precondition(timer.policy == main.policy, "\(timer)")
                precondition(timer.niceness == niceness, "\(timer)")
            }
            let start = starts.entries[0]
            precondition(start.niceness == 5 && start.policy == batchPolicy, "\(start)")
        }
    }

    /// A thread that is neither joined nor detached keeps its stack, of 8 MB of addresses, when it has ended.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("Threads that tell, and are not needed any more, end and leave nothing behind")
    func ending() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 240)
            let tests = TimerThreadsTests()
            tests.holdUpTimerThreads()
            let before = try addressSpace()
            for _ in 0..<10 { tests.holdUpTimerThreads() }
            let growth = try addressSpace() - before
            precondition(growth < 2_000_000_000, "\(growth) bytes")
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private func holdUpTimerThreads() {
        let (mayGoOn, end) = (Door(), DispatchGroup())
        for _ in 0..<50 { holdUpTimerThread(until: mayGoOn, end) }
        mayGoOn.open()
        end.wait()
    }
    #endif

    private func suspended() -> QueueSafeValue<Int> {
        let value = QueueSafeValue(value: 0)
        value.suspend()
        return value
    }

    private func letGo(_ count: Int, _ answers: Log<Result<Int, QueueSafeValueError>>) {
        var policy = HandoffPolicy()
        (policy.keeping, policy.keepingLimit) = (400_000_000, 400_000_000)
        let thread = ThreadID.current
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        let group = DispatchGroup()
        var values = (0..<count).map { _ in
            group.enter()
            let last = Last {
                if ThreadID.current != thread { answers.add(waitForTimer()) }
                group.leave()
            }
            let value = QueueSafeValue(value: last, policy: policy)
            // The turn is kept for the first command, and the second one waits: the timer is set.
            let handles = [
                value.async(performIn: queue).highestPriority.get { _ in },
                value.async(performIn: .utility).lowestPriority.get { _ in },
            ]
            for handle in handles { handle.cancel() }
            return (value: Optional(value), time: nanoseconds())
        }
        queue.resume()
        queue.sync {}
        for index in values.indices {
            let time = values[index].time + policy.keeping + .random(in: 0..<150_000)
            while nanoseconds() < time {}
            values[index].value = nil
        }
        group.wait()
    }

    /// A timer ends the time of a queue that stands still.
    private func waitForTimer() -> Result<Int, QueueSafeValueError> {
        let value = QueueSafeValue(value: 0)
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        defer { queue.resume() }
        value.async(performIn: queue).highestPriority.set { $0 += 1 }
        return value.wait(timeout: .seconds(5)).lowestPriority.get()
    }
}

private struct Nobody: TimerTarget {
    func timerFired() {}
}

#if os(Linux) && canImport(Glibc)
/// What the system says of a thread of this process.
private struct SchedulingOfThread {
    let name: String
    let niceness: CInt
    let policy: CInt
    let cores: String

    /// Of the threads of the timers.
    static var timers: [SchedulingOfThread] {
        let threads = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        return (threads ?? []).compactMap { try? SchedulingOfThread("self/task/\($0)") }
            .filter { $0.name == "value timers" }
    }

    init(_ thread: String) throws {
        let stat = try String(contentsOfFile: "/proc/\(thread)/stat", encoding: .utf8)
        // Behind the name, which may have spaces, from the third field on.
        let fields = stat.split(separator: ")").last!.split(separator: " ")
        (niceness, policy) = (CInt(fields[16])!, CInt(fields[38])!)
        let status = try String(contentsOfFile: "/proc/\(thread)/status", encoding: .utf8)
        func line(_ key: String) -> String {
            status.split(separator: "\n").first { $0.hasPrefix(key) }!.split(separator: "\t").last.map(String.init)!
        }
        (name, cores) = (line("Name:"), line("Cpus_allowed_list:"))
    }
}

@_silgen_name("sched_setaffinity")
private func sched_setaffinity(_ thread: pid_t, _ size: Int, _ cores: UnsafePointer<UInt>) -> CInt
#endif
