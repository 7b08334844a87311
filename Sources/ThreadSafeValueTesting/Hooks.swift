//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
import Dispatch
import Foundation
import ThreadSafeValue

/// What the library tells of its accesses, its sleeps and its blocks.
final class Hooks: Scheduler {
    /// Once in the process, before anything runs.
    static let install: Void = {
        Crash.prepare()
        Scheduling.install(Hooks())
    }()

    private static let lock = NSLock()
    nonisolated(unsafe) private static var active: Run?

    /// The run of the process.
    static var activeRun: Run? {
        get { lock.withLock { unsafe active } }
        set { lock.withLock { unsafe active = newValue } }
    }

    func reached(_ what: StaticString, _ object: AnyObject, at word: UInt, waits: Bool) {
        guard let me = Runner.current else {
            guard let run = Self.activeRun else { return }
            return run.mutex.withLock {
                guard let entry = run.knownEntry(at: word) else { return }
                run.noteOutside("A thread makes an access, \(what) \(entry.typeName)")
            }
        }
        let run = me.run
        run.mutex.lock()
        if !me.isSetup {
            run.passBaton(from: me)
            run.mutex.lock()
            run.idleCount = 0
        }
        if me.timeout != nil, !"\(what)".contains("time-out") { me.timeout = nil }
        let step = run.record(what, object, at: word, waits: waits, by: me)
        run.mutex.unlock()
        if run.isTraced {
            let capture = Place.capture()
            run.mutex.withLock { run.steps[step].place = capture }
        }
    }

    func beganTimeout(until time: UInt64) {
        guard let me = Runner.current else { return }
        me.timeout = time == 0 || time == .max ? nil : time
        if me.timeout != nil { _ = me.run.mutex.withLock { me.run.timeouts.insert(time) } }
    }

    func park(_ place: AnyObject, until time: UInt64) -> Bool? {
        guard let me = Runner.current else { return nil }
        let run = me.run
        run.mutex.lock()
        if run.earlyWakes.removeValue(forKey: ObjectIdentifier(place)) != nil {
            run.mutex.unlock()
            return true
        }
        (me.sleep, me.isWoken) = ((place, time), false)
        run.passBaton(from: me)
        me.sleep = nil
        return me.isWoken
    }

    func wake(_ place: AnyObject) -> Bool {
        let me = Runner.current
        guard let run = me?.run ?? Self.activeRun else { return false }
        return run.mutex.withLock {
            if let sleeper = run.runners.first(where: { $0.sleep?.place === place }) {
                sleeper.isWoken = true
                run.idleCount = 0
                if me == nil { run.noteOutside("A thread wakes \(sleeper.name)") }
                return true
            }
            if me != nil { run.earlyWakes[ObjectIdentifier(place)] = place }
            // A thread outside may sleep there.
            return false
        }
    }

    func dispatch(_ body: @escaping @Sendable () -> Void, to queue: DispatchQueue, identity: UInt) -> Bool {
        guard let run = Runner.current?.run else { return false }
        let label = queue.label
        let isGlobal = label.hasPrefix("com.apple.root.")
        let isMain = label == "com.apple.main-thread"
        // On its queue, so that code that asks for that is right. The main queue is not to be had.
        let runner = Runner(isGlobal ? "global queue" : label.isEmpty ? "queue" : "queue \(label)", run) { _ in
            if isGlobal || isMain { body() } else { queue.sync(execute: body) }
        }
        run.mutex.withLock {
            run.runners.append(runner)
            if isGlobal { return }
            runner.queue = identity
            run.queues[identity, default: []].append(runner)
        }
        return true
    }

    func call(_ body: @escaping @Sendable () -> Void, at time: UInt64, for timer: LibraryTimer) -> Bool {
        guard let run = Runner.current?.run else { return false }
        run.mutex.withLock { run.timers.append((time, timer, body)) }
        return true
    }

    func cancel(_ timer: LibraryTimer) {
        guard let run = Runner.current?.run ?? Self.activeRun else { return }
        // What it keeps goes away without the mutex.
        let removed = run.mutex.withLock {
            run.timers.firstIndex { $0.timer === timer }.map { run.timers.remove(at: $0) }
        }
        withExtendedLifetime(removed) {}
    }

    func foundCircle() {
        guard let me = Runner.current else { return }
        let run = me.run
        run.fail("hang: \(run.mutex.withLock { run.waits() })", on: me)
    }

    var time: UInt64? { Runner.current?.run.clock }
}

#endif
