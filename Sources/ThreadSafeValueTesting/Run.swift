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
    /// The values and locks that the test uses, in the order in which they were used first.
    var entries: [Entry] = []
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
    var tasks: [(name: String, task: Task<Void, Never>)] = []
    var jobNames: [String: String] = [:]
    var nextJobName: String?
    private var failure: String?
    /// Accesses that nest in opposite orders.
    var circle: [Nesting] = []

    private var thrown: String?
    /// What has the baton.
    private var current: Runner?
    private var stepCount = 0
    /// How often the clock has gone on since something happened.
    var idleCount = 0
    private var isOver = false
    private let end = DispatchSemaphore(value: 0)
    /// What came from a thread that is no part of the schedule.
    private var outside: String?

    init(_ choices: Choices, isTraced: Bool) { (self.choices, self.isTraced) = (choices, isTraced) }
}

// What the explorer calls.
extension Run {
    /// Runs the test once. The calling thread makes the values of the test.
    ///
    /// - Returns: What failed.
    func execute(_ test: (Schedule) throws -> Void) throws -> String? {
        Hooks.activeRun = self
        let setup = Runner("setup", self)
        (setup.isSetup, setup.worker) = (true, Worker())
        runners = [setup]
        Runner.current = setup
        defer { (Hooks.activeRun, Runner.current) = (nil, nil) }
        do { try test(Schedule(of: self)) } catch {
            // None of the threads has begun.
            mutex.withLock { isOver = true }
            throw error
        }
        for start in starts { start(self) }
        starts = []
        Runner.current = nil
        finish(setup)
        waitForEnd()
        return failure ?? orderFailure ?? checks.lazy.compactMap { $0() }.first
    }

    /// Waits until all is over, and sees to it that it ends.
    private func waitForEnd() {
        var seen = -1
        while end.wait(timeout: .now() + .seconds(4)) == .timedOut {
            mutex.lock()
            defer { mutex.unlock() }
            if stepCount == seen, let runner = current {
                let last = steps.last { $0.runner == runner.name }.map { " since \(placed($0))" } ?? ""
                return stop(
                    "\(runner.name) runs or is blocked for 4 s\(last), where the schedule sees nothing: \(Self.unseen)"
                )
            }
            seen = stepCount
        }
        // What comes from outside now is something that the schedule does not see.
        let isHang = mutex.withLock { isStuck } && end.wait(timeout: .now() + .seconds(1)) == .timedOut
        mutex.withLock {
            if isHang { failure = "hang: \(waits())" }
            if let outside { failure = failure ?? "\(outside), which is no part of the schedule: \(Self.unseen)" }
            failure = failure ?? thrown
        }
    }

    /// The run is over, and something can never go on.
    private var isStuck: Bool { isOver && failure == nil && !(runners.isEmpty && tasks.isEmpty) }

    static let unseen = """
        not the main actor, Task.sleep, unstructured tasks, Dispatch blocks of your own, nor locks and semaphores of others
        """
}

// How the baton is passed.
extension Run {
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
        if stepCount > 5_000 { stop("no end after 5000 steps: does \(me?.name ?? "a thread") wait in a loop?") }
        guard !isOver, let next = choose(from: me) else {
            stop()
            mutex.unlock()
            // The thread stays where it is: the run is over.
            while let me { me.worker!.baton.wait() }
            return
        }
        current = next
        if next === me { return mutex.unlock() }
        if next.worker == nil { next.worker = Worker.take(for: next) }
        mutex.unlock()
        next.worker!.baton.signal()
        me?.worker!.baton.wait()
    }

    /// Ends the run, once. With the mutex.
    private func stop(_ message: String? = nil) {
        if isOver { return }
        (isOver, failure) = (true, message)
        end.signal()
    }

    /// A thread has found what ends the run.
    func fail(_ message: String, on me: Runner) -> Never {
        mutex.withLock { stop(message) }
        while true { me.worker!.baton.wait() }
    }

    private func choose(from me: Runner?) -> Runner? {
        repeat {
            // Loops, as closures take long in a debug build.
            let stays = me.map(canGoOn) == true
            var options = stays ? [me!] : []
            for runner in runners where runner !== me && canGoOn(runner) { options.append(runner) }
            if options.isEmpty { continue }
            let ends = ends(ofTimeoutsOnly: true)
            let chosen = choices.choose(options.count + ends.count, free: stays ? 1 : options.count)
            return chosen < options.count ? options[chosen] : ends[chosen - options.count].happen()
        } while passTime()
        return nil
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
        let ends = ends(ofTimeoutsOnly: idleCount > 8 + 4 * runners.count)
        guard idleCount <= 1_000, let first = ends.min(by: { $0.time < $1.time }) else { return false }
        _ = first.happen()
        return true
    }

    /// The timers and the sleeps that time may end, and what goes on then.
    private func ends(ofTimeoutsOnly isOnlyForTimeouts: Bool) -> [(time: UInt64, happen: () -> Runner)] {
        var ends: [(time: UInt64, happen: () -> Runner)] = []
        for (index, timer) in timers.enumerated() where !isOnlyForTimeouts || timeouts.contains(timer.time) {
            ends.append((timer.time, { self.fire(index) }))
        }
        for runner in runners where !runner.isWoken {
            guard let sleep = runner.sleep else { continue }
            let timeout = runner.timeout ?? .max
            let time = isOnlyForTimeouts ? timeout : min(sleep.time, timeout)
            if time != .max { ends.append((time, { self.endSleep(of: runner, at: time) })) }
        }
        return ends
    }

    private func endSleep(of runner: Runner, at time: UInt64) -> Runner {
        clock = max(clock, time)
        if let timeout = runner.timeout, timeout <= clock {
            runner.timeout = nil
            steps.append(Step(runner: runner.name, what: "time-out of", entry: runner.taken.last?.entry))
        }
        runner.sleep = nil
        return runner
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
