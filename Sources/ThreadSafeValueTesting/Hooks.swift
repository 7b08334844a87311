//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
import Foundation
import ThreadSafeValue

/// The library tells of its accesses, its sleeps and its blocks here.
final class Hooks: Scheduler {
    /// Once in the process, before anything runs.
    static let install: Void = Scheduling.install(Hooks())

    private init() { Run.reportCrashes() }

    func reached(_ what: StaticString, _ object: AnyObject, at word: UInt, waits: Bool) {
        guard let me = Runner.current else {
            return Run.mutex.withLock {
                guard let run = unsafe Run.active, let entry = run.knownEntry(at: word) else { return }
                run.fail(outside: "A thread", "makes an access, \(what) \(entry.typeName)")
            }
        }
        if !me.isAlone { me.run.passBaton(from: me) }
        me.run.record(what, object, at: word, waits: waits, by: me)
    }

    func beganTimeout(until time: UInt64) { Runner.current?.timeout = time == 0 ? .max : time }

    func park(_ place: AnyObject, until time: UInt64) -> Bool? {
        guard let me = Runner.current else { return nil }
        me.sleep = (place, time)
        if !Run.mutex.withLock({ me.isAwake }) { me.run.passBaton(from: me) }
        me.sleep = nil
        return Run.mutex.withLock { me.run.wakes.removeValue(forKey: ObjectIdentifier(place)) != nil }
    }

    func wake(_ place: AnyObject) {
        Run.mutex.withLock { (unsafe Runner.current?.run ?? Run.active)?.wakes[ObjectIdentifier(place)] = place }
    }

    func dispatch(_ body: @escaping @Sendable () -> Void, to queue: DispatchQueue, identity: UInt) -> Bool {
        guard let run = Runner.current?.run else { return false }
        let (label, isGlobal) = (queue.label, queue.label.hasPrefix("com.apple.root."))
        let last = isGlobal ? nil : run.runners.last { $0.queue == identity }
        // On its queue, so that code that asks for that is right. The main queue is not to be had.
        let runner = Runner(isGlobal ? "global queue" : "queue \(label)", run, after: last) {
            if label == "com.apple.main-thread" { body() } else { queue.sync(execute: body) }
        }
        runner.queue = identity
        run.runners.append(runner)
        return true
    }

    func call(_ body: @escaping @Sendable () -> Void, at time: UInt64, for timer: LibraryTimer) -> Bool {
        guard let me = Runner.current else { return false }
        let runner = Runner(me.name, me.run, body)
        runner.sleep = (timer, time)
        // Otherwise it is a timer of the library's own, which comes only when nothing else can.
        if me.timeout == time { runner.timeout = time }
        me.run.runners.append(runner)
        return true
    }

    func cancel(_ timer: LibraryTimer) {
        // An object that a timer keeps may have a `deinit` that comes here again.
        if let run = Runner.current?.run { run.runners = run.runners.filter { $0.sleep?.place !== timer } }
    }

    var time: UInt64? { Runner.current?.run.clock }
}
#endif
