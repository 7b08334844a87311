//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
import Foundation
import ThreadSafeValue

private let unseen = "schedules do not see the main actor, Task.sleep, unstructured tasks, your blocks, other locks"

private let diverged = "the test is not the same each time: does it use the clock, chance, or a static variable?"

/// One schedule: runners that pass a baton, and a clock that goes on only when nothing else can.
///
/// Only the thread with the baton uses what changes here, but for what the mutex guards.
final class Run: @unchecked Sendable {
    /// Guards what other threads look at or change, of all schedules; for moments.
    static let mutex = NSRecursiveLock()

    /// The one of the process, for threads that are no part of it. With the mutex.
    nonisolated(unsafe) static weak var active: Run?

    /// From which step on each notes its place, which takes long.
    let tracedFrom: Int
    let search: Search

    /// What is checked once all others are over, one after the other.
    var checks: [Runner] = []
    var runners: [Runner] = []
    var steps: [Step] = []
    /// Accesses that nest, with each that is around them.
    var nestings: [(outer: Step, inner: Step)] = []
    /// The values and locks that the test uses, in the order in which they were used first. With the mutex.
    var entries: [Entry] = []
    var clock: UInt64 = 1_000_000_000
    /// Where a sleep ends at once. Each place is kept, so that no other one has its address. With the mutex.
    var wakes: [ObjectIdentifier: AnyObject] = [:]
    /// How often the clock has gone on since the last step.
    var idleCount = 0

    // The rest with the mutex.
    /// All are over but the checks, for which there is one order.
    private var isChecking = false
    private var passCount = 0
    /// The runner that has the baton.
    private var current: Runner?
    /// The first failure. After that, nothing gets the baton.
    private var failure: String?
    private let end = DispatchSemaphore(value: 0)

    init(_ search: Search, tracedFrom: Int = .max) { (self.search, self.tracedFrom) = (search, tracedFrom) }
}

extension Run {
    // MARK: How a schedule begins and ends

    /// Runs the test once. The calling thread makes the values of the test.
    ///
    /// - Returns: What failed.
    func execute(_ test: (Schedule) throws -> Void) throws -> String? {
        let setup = Runner("setup", self)
        (setup.isAlone, runners, Runner.local.object) = (true, [setup], setup)
        Self.mutex.withLock { unsafe Run.active = self }
        defer { (runners, checks, wakes, Runner.local.object) = ([], [], [:], nil) }
        try test(Schedule(of: self))
        finish(setup)
        waitForEnd()
        return failure ?? (search.hasDiverged ? diverged : nil)
    }

    /// Waits until all is over, and sees to it that it ends.
    private func waitForEnd() {
        var seen = 0
        while end.wait(timeout: .now() + .seconds(4)) == .timedOut {
            Self.mutex.lock()
            defer { Self.mutex.unlock() }
            if passCount == seen, let me = current {
                let last = lastStep(of: me.name).map { " since \(placed($0))" } ?? ""
                return fail("\(me.name) runs or is blocked for 4 s\(last) (\(unseen))")
            }
            seen = passCount
        }
        // Something outside, which the schedule does not see, may resume a runner that waits for ever.
        if isStuck, Self.mutex.withLock({ failure == nil }) {
            Thread.sleep(forTimeInterval: 1)
            let woken = Self.mutex.withLock { runners.first { $0.isAwake } }
            if let woken { fail(outside: "A thread", "wakes \(woken.name)") } else { fail("hang: \(waits)") }
        }
    }

    /// Notes what failed, the first time.
    func fail(_ message: String) { Self.mutex.withLock { failure = failure ?? message } }

    /// Something outside the schedule has changed what happens in it.
    func fail(outside who: String, _ did: String) { fail("\(who) outside \(did) (\(unseen))") }

    /// Something has begun and cannot go on. The rest are timers, and blocks behind others.
    private var isStuck: Bool { runners.contains { $0.body == nil } }

    // MARK: How the baton is passed

    /// A runner is over: another one goes on.
    func finish(_ runner: Runner) {
        if let index = runners.firstIndex(where: { $0 === runner }) { runners.remove(at: index) }
        for index in 0..<runners.count where runners[index].sleep?.place === runner { runners[index].sleep = nil }
        passBaton(from: nil)
    }

    /// Chooses what goes on, and returns when the caller does: never, if the run is over.
    func passBaton(from me: Runner?) {
        Self.mutex.lock()
        passCount += 1
        if passCount > 5_000 { fail("no end after 5000 steps: does \(me?.name ?? "a thread") wait in a loop?") }
        let next = failure == nil ? choose(from: me) : nil
        current = next
        Self.mutex.unlock()
        if let me, next === me { return }
        if let next, next.body != nil { Worker.begin(next) } else { (next?.baton ?? end).signal() }
        me?.baton.wait()
    }

    /// The options are what can go on, the caller first, and then what may time out.
    ///
    /// With indices, as it runs at each step: iterators are slow in debug builds.
    private func choose(from me: Runner?) -> Runner? {
        let (goesOn, runners) = (me?.isAwake == true, runners)
        var (options, late): ([Runner], [Runner]) = (goesOn ? [me!] : [], [])
        for index in 0..<runners.count where !goesOn || runners[index] !== me {
            let runner = runners[index]
            if runner.isAwake { options.append(runner) } else if runner.timeout != .max { late.append(runner) }
        }
        if options.isEmpty { return isStuck ? passTime() : nextCheck() }
        let choice = isChecking ? 0 : search.choose(options.count + late.count, free: goesOn ? 1 : options.count)
        return choice < options.count ? options[choice] : endSleep(of: late[choice - options.count])
    }

    /// All are over: a check goes on, if one is left.
    private func nextCheck() -> Runner? {
        if !isChecking { (isChecking, failure) = (true, orderFailure) }
        if failure != nil || checks.isEmpty { return nil }
        runners.append(checks.removeFirst())
        return runners.last
    }

    /// Nothing can go on: the clock does.
    ///
    /// - Returns: What can go on then.
    private func passTime() -> Runner? {
        idleCount += 1
        // The library looks again and again; what it looks for does not come by itself.
        let isInVain = idleCount > 8 + 4 * runners.count
        func time(_ runner: Runner) -> UInt64 { min(runner.timeout, isInVain ? .max : runner.sleep!.time) }
        let next = runners.min { time($0) < time($1) }!
        return time(next) == .max ? nil : endSleep(of: next, at: time(next))
    }

    private func endSleep(of runner: Runner, at time: UInt64? = nil) -> Runner {
        (clock, runner.sleep) = (max(clock, time ?? runner.timeout), nil)
        if runner.timeout > clock { return runner }
        runner.timeout = .max
        steps.append(Step(runner: runner.name, what: "time-out of", entry: lastStep(of: runner.name)?.entry))
        return runner
    }
}
#endif
