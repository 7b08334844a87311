//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
import Dispatch
import Foundation
import ThreadSafeValue

/// One schedule: threads that pass a baton, and a clock that goes on only when nothing else can.
final class Run: @unchecked Sendable {
    let isTraced: Bool

    // Set by the calling thread, before the first thread runs.
    var starts: [(Run) -> Void] = []
    var checks: [() -> String?] = []

    // The rest is guarded by `mutex`, and changes on the thread with the baton but for what comes from outside.
    let mutex = NSLock()
    var choices: Choices
    var runners: [Runner] = []
    var steps: [Step] = []
    var entries: [UInt: Entry] = [:]
    /// Locks of the library, which are held for moments. Kept, so that no other one has the address.
    var hidden: [ObjectIdentifier: AnyObject] = [:]
    var nestings: [Nesting] = []
    var names: [UInt64: String] = [:]
    var clock: UInt64 = 1_000_000_000
    var timers: [(time: UInt64, timer: LibraryTimer, body: @Sendable () -> Void)] = []
    /// When time-outs end that the test has given. Other timers are the library's own.
    var timeouts: Set<UInt64> = []
    var queues: [UInt: [Runner]] = [:]
    /// Wake-ups that came first. Each place is kept, so that no other one has its address.
    var earlyWakes: [ObjectIdentifier: AnyObject] = [:]
    /// The tasks of the test that are not over.
    var tasks: [(name: String, cancel: @Sendable () -> Void)] = []
    var jobNames: [String: String] = [:]
    var nextJobName: String?
    var failure: String?
    /// Accesses that nest in opposite orders.
    var circle: [Nesting] = []

    private var thrown: String?
    /// What has the baton.
    private var current: Runner?
    private var stepCount = 0
    /// How often the clock has gone on since something happened.
    var idleCount = 0
    private var isOver = false
    private var isStuck = false
    private let end = DispatchSemaphore(value: 0)
    /// What came from a thread that is no part of the schedule.
    private(set) var outside: String?

    init(_ choices: Choices, isTraced: Bool) { (self.choices, self.isTraced) = (choices, isTraced) }
}

// What the explorer calls.
extension Run {
    /// The calling thread makes the values of the test.
    func open() -> Runner {
        Hooks.activeRun = self
        let setup = Runner("setup", self)
        (setup.isSetup, setup.worker) = (true, Worker())
        runners = [setup]
        Runner.current = setup
        return setup
    }

    func begin(_ setup: Runner) {
        starts.forEach { $0(self) }
        starts = []
        Runner.current = nil
        finish(setup)
    }

    /// A run that ends early: none of its threads has begun, or they stay where they are.
    func abandon() {
        mutex.withLock { isOver = true }
        Runner.current = nil
    }

    func close() {
        Hooks.activeRun = nil
    }

    /// Waits until all is over, and sees to it that it ends.
    func waitForEnd() {
        var (seen, seconds) = (0, 0)
        while end.wait(timeout: .now() + .seconds(1)) == .timedOut {
            mutex.lock()
            seconds = stepCount == seen ? seconds + 1 : 0
            seen = stepCount
            if seconds == 4, let runner = current {
                let last = lastStep(of: runner.name).map { " since \($0)" } ?? ""
                failure =
                    "\(runner.name) runs or is blocked for 4 s\(last), where the schedule sees nothing: \(Self.unseen)"
                isOver = true
                mutex.unlock()
                return
            }
            mutex.unlock()
        }
        mutex.lock()
        defer { mutex.unlock() }
        if isStuck {
            mutex.unlock()
            // What comes from outside now is something that the schedule does not see.
            let isOutside = end.wait(timeout: .now() + .seconds(1)) == .success
            mutex.lock()
            failure = isOutside ? nil : "hang: \(waits())"
        }
        if let outside { failure = failure ?? "\(outside), which is no part of the schedule: \(Self.unseen)" }
        failure = failure ?? thrown
    }

    static let unseen = """
        not the main actor, Task.sleep, unstructured tasks, Dispatch blocks of your own, nor locks and semaphores of others
        """
}

// How the baton is passed.
extension Run {
    func add(_ runner: Runner) {
        mutex.withLock { runners.append(runner) }
    }

    /// A runner is over: another one goes on.
    func finish(_ runner: Runner) {
        mutex.lock()
        runners.removeAll { $0 === runner }
        if let queue = runner.queue { queues[queue]?.removeFirst() }
        passBaton(from: nil)
    }

    /// Chooses what goes on, and returns when the caller does. Takes the mutex over, and gives it back.
    func passBaton(from me: Runner?) {
        stepCount += 1
        if stepCount > 5_000, !isOver {
            failure = "no end after 5000 steps: does \(me?.name ?? "a thread") wait in a loop?"
            stop()
        }
        guard !isOver, let next = choose(from: me) else {
            if !isOver {
                isStuck = !(runners.isEmpty && tasks.isEmpty)
                stop()
            }
            mutex.unlock()
            // The thread stays where it is: the run is over.
            while me != nil { me!.worker!.waitForBaton() }
            return
        }
        current = next
        if next === me { return mutex.unlock() }
        if next.worker == nil {
            next.worker = Worker.take()
            next.worker!.runner = next
        }
        mutex.unlock()
        next.worker!.pass()
        me?.worker!.waitForBaton()
    }

    private func stop() {
        isOver = true
        end.signal()
    }

    /// A thread has found what ends the run.
    func fail(_ message: String, on me: Runner) -> Never {
        mutex.lock()
        if !isOver {
            failure = message
            stop()
        }
        mutex.unlock()
        while true { me.worker!.waitForBaton() }
    }

    private func choose(from me: Runner?) -> Runner? {
        while true {
            // Loops, as closures take long in a debug build.
            let stays = me.map(canGoOn) == true
            var options = stays ? [me!] : []
            for runner in runners where runner !== me && canGoOn(runner) { options.append(runner) }
            if options.isEmpty {
                if passTime() { continue }
                return nil
            }
            let plain = options.count
            var (sleepers, fires): ([Runner], [Int]) = ([], [])
            for runner in runners where runner.timeout != nil && runner.sleep != nil && !runner.isWoken {
                sleepers.append(runner)
            }
            for (index, timer) in timers.enumerated() where timeouts.contains(timer.time) { fires.append(index) }
            let chosen = choices.choose(plain + sleepers.count + fires.count, free: stays ? 1 : plain)
            if chosen < plain { return options[chosen] }
            if chosen < plain + sleepers.count {
                let sleeper = sleepers[chosen - plain]
                endSleep(of: sleeper, at: sleeper.timeout!)
                return sleeper
            }
            return fire(fires[chosen - plain - sleepers.count])
        }
    }

    private func canGoOn(_ runner: Runner) -> Bool {
        if runner.sleep != nil { return runner.isWoken }
        guard runner.worker == nil, let queue = runner.queue else { return true }
        return queues[queue]?.first === runner
    }

    /// Nothing can go on: the clock does.
    ///
    /// - Returns: Whether something can then.
    private func passTime() -> Bool {
        if runners.isEmpty && tasks.isEmpty { return false }
        idleCount += 1
        // The library looks again and again; what it looks for does not come by itself.
        let isOnlyForTimeouts = idleCount > 8 + 4 * runners.count
        let sleepers = runners.filter { $0.sleep != nil && !$0.isWoken }
        func time(_ runner: Runner) -> UInt64 {
            isOnlyForTimeouts ? runner.timeout ?? .max : min(runner.sleep!.time, runner.timeout ?? .max)
        }
        let sleeper = sleepers.min { time($0) < time($1) }
        let timer = timers.indices.filter { !isOnlyForTimeouts || timeouts.contains(timers[$0].time) }
            .min { timers[$0].time < timers[$1].time }
        let (sleepEnd, timerEnd) = (sleeper.map(time) ?? .max, timer.map { timers[$0].time } ?? .max)
        if min(sleepEnd, timerEnd) == .max || idleCount > 1_000 { return false }
        if timerEnd <= sleepEnd { _ = fire(timer!) } else { endSleep(of: sleeper!, at: sleepEnd) }
        return true
    }

    private func endSleep(of runner: Runner, at time: UInt64) {
        clock = max(clock, time)
        if runner.timeout.map({ $0 <= clock }) == true {
            runner.timeout = nil
            steps.append(Step(runner: runner.name, what: "time-out of", entry: runner.last))
        }
        runner.sleep = nil
    }

    private func fire(_ index: Int) -> Runner {
        let timer = timers.remove(at: index)
        clock = max(clock, timer.time)
        let runner = Runner(timeouts.contains(timer.time) ? "time-out" : "timer", self) { _ in timer.body() }
        runners.append(runner)
        return runner
    }
}

// What the hooks and the tasks call, with the mutex.
extension Run {
    /// Something came from a thread that is no part of the schedule.
    func noteOutside(_ what: String) {
        outside = outside ?? what
        if isStuck { end.signal() }
    }

    /// A thread or a task of the test may throw.
    func note(_ name: String, _ body: () throws -> Void) {
        do { try body() } catch { mutex.withLock { thrown = thrown ?? "\(name) threw \(error)" } }
    }
}
#endif
