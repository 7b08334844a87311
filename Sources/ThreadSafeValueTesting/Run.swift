//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
import Foundation
import ThreadSafeValue

private let unseen =
    "not the main actor, Task.sleep, unstructured tasks, Dispatch blocks of your own, nor locks and semaphores of others"

private let diverged = "the test is not the same each time: does it use the clock, chance, or a static variable?"

/// One schedule: runners that pass a baton, and a clock that goes on only when nothing else can.
///
/// Only the thread with the baton uses what changes here, but for what the mutex guards.
final class Run: @unchecked Sendable {
    /// Guards what other threads look at or change, of all schedules; for moments.
    static let mutex = NSRecursiveLock()

    /// The one of the process, for threads that are no part of it. With the mutex.
    nonisolated(unsafe) static weak var active: Run?

    /// Whether each step notes its place, which takes long.
    let isTraced: Bool
    let search: Search

    /// What must be true in the end.
    var checks: [() -> String?] = []
    var runners: [Runner] = []
    var steps: [Step] = []
    /// The values and locks that the test uses, in the order in which they were used first. With the mutex.
    var entries: [Entry] = []
    var clock: UInt64 = 1_000_000_000
    /// Where a sleep ends at once. Each place is kept, so that no other one has its address. With the mutex.
    var wakes: [ObjectIdentifier: AnyObject] = [:]
    /// How often the clock has gone on since the last step.
    var idleCount = 0

    // The rest with the mutex.
    private var passCount = 0
    /// What has the baton.
    private var current: Runner?
    /// What failed first. After that, nothing gets the baton.
    private var failure: String?
    private let end = DispatchSemaphore(value: 0)

    init(_ search: Search, isTraced: Bool) { (self.search, self.isTraced) = (search, isTraced) }
}

extension Run {
    // MARK: How a schedule begins and ends

    /// Runs the test once. The calling thread makes the values of the test.
    ///
    /// - Returns: What failed.
    func execute(_ test: (Schedule) throws -> Void) throws -> String? {
        let setup = Runner("setup", self)
        (setup.isSetup, runners, Runner.local.object) = (true, [setup], setup)
        Self.mutex.withLock { unsafe Run.active = self }
        defer { (runners, wakes, Runner.local.object) = ([], [:], nil) }
        try test(Schedule(of: self))
        finish(setup)
        waitForEnd()
        Self.mutex.withLock { (unsafe Run.active, Runner.local.object) = (nil, nil) }
        return failure ?? orderFailure ?? checks.lazy.compactMap { $0() }.first ?? (search.hasDiverged ? diverged : nil)
    }

    /// Waits until all is over, and sees to it that it ends.
    private func waitForEnd() {
        var seen = 0
        while end.wait(timeout: .now() + .seconds(4)) == .timedOut {
            Self.mutex.lock()
            defer { Self.mutex.unlock() }
            if passCount == seen, let me = current {
                let last = lastStep(of: me.name).map { " since \(placed($0))" } ?? ""
                return fail("\(me.name) runs or is blocked for 4 s\(last), where the schedule sees nothing: \(unseen)")
            }
            seen = passCount
        }
        // What can never go on may be resumed from outside, which the schedule does not see.
        if isStuck, Self.mutex.withLock({ failure == nil }) {
            Thread.sleep(forTimeInterval: 1)
            let woken = Self.mutex.withLock { runners.first { $0.isAwake } }
            if let woken { failOutside("A thread wakes \(woken.name)") } else { fail("hang: \(waits)") }
        }
    }

    /// Notes what failed, the first time.
    func fail(_ message: String) { Self.mutex.withLock { failure = failure ?? message } }

    /// A thread that is no part of the schedule has done something to it.
    func failOutside(_ what: String) { fail("\(what), which is no part of the schedule: \(unseen)") }

    /// Something has begun and cannot go on. The rest are timers, and blocks behind others.
    private var isStuck: Bool { runners.contains { $0.body == nil } }

    // MARK: How the baton is passed

    /// A runner is over: another one goes on.
    func finish(_ runner: Runner) {
        runners.removeAll { $0 === runner }
        Self.mutex.withLock { wakes[ObjectIdentifier(runner)] = runner }
        passBaton(from: nil)
    }

    /// Chooses what goes on, and returns when the caller does: never, if the run is over.
    func passBaton(from me: Runner?) {
        Self.mutex.lock()
        passCount += 1
        if passCount > 5_000 { fail("no end after 5000 steps: does \(me?.name ?? "a thread") wait in a loop?") }
        current = failure == nil ? choose(from: me) : nil
        let next = current
        if next == nil { end.signal() }
        Self.mutex.unlock()
        if next === me { return }
        if let next, next.body != nil { Worker.begin(next) } else { next?.baton.signal() }
        me?.baton.wait()
    }

    /// The options are what can go on, the caller first, and then what may time out.
    private func choose(from me: Runner?) -> Runner? {
        var (options, late): ([Runner], [Runner]) = ([], [])
        for runner in runners {
            if runner.isAwake { options.append(runner) } else if runner.timeout != .max { late.append(runner) }
        }
        if options.isEmpty { return isStuck ? passTime() : nil }
        let own = options.firstIndex { $0 === me }
        if let own { options.swapAt(0, own) }
        let choice = search.choose(options.count + late.count, free: own == nil ? options.count : 1)
        if choice < options.count { return options[choice] }
        return endSleep(of: late[choice - options.count], at: late[choice - options.count].timeout)
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

    private func endSleep(of runner: Runner, at time: UInt64) -> Runner {
        clock = max(clock, time)
        runner.sleep = nil
        if runner.timeout > clock { return runner }
        runner.timeout = .max
        steps.append(Step(runner: runner.name, what: "time-out of", entry: lastStep(of: runner.name)?.entry))
        return runner
    }
}
#endif
