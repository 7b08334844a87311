//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CFiber

/// The one world in which everything happens. It runs on one thread of the process, so nothing in it needs a lock.
nonisolated(unsafe) let world = World()

/// The virtual threads, the clock, and who runs next.
@safe
final class World {
    /// Stands for the outside, where a scenario is set up and taken down; it never waits.
    let outside = VirtualThread(index: 0)

    private(set) var current: VirtualThread
    private(set) var execution = 0
    private(set) var threads: [VirtualThread] = []
    private var pool: [VirtualThread] = []
    private var isStarting = false
    private var isOver = false

    let monitor = Monitor()
    var chooser = Chooser()
    private(set) var memory = Memory(staleLoads: nil)

    /// What all shared objects hold, in one number: zero while each holds what it began with.
    private var objects: UInt64 = 0

    /// The identities of blocks that were dispatched.
    var blocks: [ObjectIdentifier: UInt64] = [:]

    /// Nanoseconds. The clock stands still but for the jumps that a scenario allows, and until something comes.
    private(set) var clock: UInt64 = 0
    private var jumps: [UInt64] = []
    /// How often a timer of the library may still fire before it has to.
    private var haste = 0

    /// How often the library looks for something before it sleeps, and how many commands a block runs.
    private(set) var looks = 1
    private(set) var batch = 2

    /// Whether a command may be refused as too many wait.
    private(set) var isBounded = false

    private(set) var scenario = ""

    /// What a mutex of a lock guards that is a subject itself.
    private(set) var lockContents: (PlatformLock) -> UInt64? = { _ in nil }
    private var queues: [String: DispatchQueue] = [:]

    private(set) var steps = 0
    private(set) var failure: String?
    var isVerbose = false

    // Reused, because an array of its own a step costs too much.
    private var possible: [VirtualThread] = []

    init() {
        current = outside
    }
}

extension World {
    /// Runs one execution to its end.
    ///
    /// - Returns: what was wrong, if anything.
    func run(_ scenario: Scenario) -> String? {
        execution += 1
        self.scenario = scenario.name
        for thread in threads { thread.abandon() }
        threads = []
        WaitGraph.shared.waits = [:]
        (objects, blocks) = (0, [:])
        outside.forget()
        outside.view = View()
        memory = Memory(staleLoads: scenario.staleLoads)
        clock = 1_000_000_000
        jumps = scenario.jumps.reversed()
        (haste, looks, batch) = (scenario.haste, scenario.looks, scenario.batch)
        isBounded = scenario.limit != .max
        steps = 0
        failure = nil
        isOver = false
        current = outside
        monitor.reset(for: scenario)
        let stage = Stage(scenario)
        lockContents = { [lock = stage.lock] in lock.contents(of: $0) }
        // Up to its first step a thread meets nobody, so the order does not matter.
        isStarting = true
        for thread in threads where thread.queue == nil { resume(thread) }
        isStarting = false
        decide(after: outside)
        if failure == nil { stage.checkEnd() }
        // Its words go away with the memory that they stand in, unless a thread still has the lock.
        lockContents = { _ in nil }
        if failure != nil { _ = unsafe Unmanaged.passRetained(stage) }
        return failure
    }

    /// Adds a thread of the scenario.
    func addThread(_ name: String, isTask: Bool, isMain: Bool, _ body: @escaping () -> Void) {
        let thread = add(name, nil, body)
        thread.isMain = isMain
        if isTask { thread.task = VirtualTask(thread) }
    }

    func addWorker(_ name: String, of queue: DispatchQueue) {
        add(name, queue) { queue.work() }.next = .work(queue)
    }

    /// The queue of that label.
    func queue(_ label: String, width: Int) -> DispatchQueue {
        if let queue = queues[label], queue.width == width { return queue }
        let queue = DispatchQueue(label: label, width: width)
        queues[label] = queue
        return queue
    }

    /// The main queue does not start while the main thread does something.
    var isMainThreadBusy: Bool { threads.contains { $0.isMain && !$0.isFinished } }

    /// Notes what is wrong and ends the execution.
    func fail(_ message: String) {
        if failure == nil { failure = message }
        if isVerbose { log("!! \(message)") }
        if current !== outside {
            isOver = true
            leave()
        }
    }

    func log(_ line: String) {
        print("  \(current.name): \(line)")
    }
}

// What the doubles call.

extension World {
    /// Lets the scheduler choose who goes on; returns when the calling thread may do `step`.
    func pass(_ step: Step) {
        let me = current
        if me === outside { return }
        me.next = step
        steps += 1
        // A state that was met before was checked then.
        if !chooser.isOnKnownPath { monitor.checkLines() }
        if steps > 20_000 { fail("no end after 20,000 steps") }
        if isStarting {
            unsafe cfiber_switch(me.fiber, outside.fiber)
        } else {
            decide(after: me)
        }
        me.observe(3)
        if isVerbose { log(describe(step)) }
    }

    /// The calling thread is at its end.
    func leave() {
        if isStarting { end(current) } else { decide(after: current) }
    }

    func newObject() -> UInt64 { current.newObject() }

    func objectChanged(_ id: UInt64, from old: UInt64, to new: UInt64) {
        objects ^= mix(id, old) ^ mix(id, new)
    }

    /// The time, after a jump if the scenario has one left and the scheduler likes.
    func readClock() -> UInt64 {
        // As long as it may jump, who reads it when makes a difference.
        if !jumps.isEmpty { pass(.run("read the clock", 0)) }
        if let jump = jumps.last, current !== outside, chooser.choose(2, staying: false, kind: 1) == 1 {
            jumps.removeLast()
            clock += jump
            if isVerbose { log("the clock jumps to \(clock)") }
        }
        current.observe(clock)
        return clock
    }

    /// Whether something may come that is due at a time: a time-out of a user at any moment, a timer of the library when
    /// nothing else happens any more, or if the scenario is hasty.
    func mayCome(_ time: UInt64, _ isUsers: Bool) -> Bool { isUsers || time <= clock || haste > 0 }

    /// It comes.
    func comes(_ time: UInt64, _ isUsers: Bool) {
        if time <= clock { return }
        clock = time
        if !isUsers, haste > 0 { haste -= 1 }
        if isVerbose { log("it is \(clock)") }
    }

    /// Everything that what happens next depends on, in one number.
    var state: UInt64 {
        var sum = objects ^ mix(mix(clock, UInt64(haste)), UInt64(jumps.count))
        for thread in threads {
            sum &+= mix(thread.observed, UInt64(thread.index) << 1 | (thread.isFinished ? 1 : 0))
        }
        if memory.isWeak { sum = mix(sum, memory.state) }
        return mix(sum, monitor.state)
    }
}

extension World {
    @discardableResult
    private func add(_ name: String, _ queue: DispatchQueue?, _ body: @escaping () -> Void) -> VirtualThread {
        let index = threads.count + 1
        if pool.count < index { pool.append(VirtualThread(index: index)) }
        let thread = pool[index - 1]
        thread.start(name, of: queue, body)
        threads.append(thread)
        return thread
    }

    private func resume(_ thread: VirtualThread) {
        let me = current
        current = thread
        unsafe cfiber_switch(me.fiber, thread.fiber)
        current = me
    }

    private func isPossible(_ thread: VirtualThread) -> Bool {
        switch thread.next {
        case .run: true
        case .lock(let lock): lock.holder == nil
        case .wait(let semaphore, let time):
            semaphore.count > 0 || time.map { mayCome($0, monitor.hasTimeout(thread)) } == true
        case .work(let queue): queue.hasWork
        case .until(_, let condition): condition()
        case .never: false
        }
    }

    private func decide(after me: VirtualThread) {
        guard !isOver else { return end(me) }
        possible.removeAll(keepingCapacity: true)
        let canStay = me !== outside && isPossible(me)
        if canStay { possible.append(me) }
        for thread in threads where thread !== me && isPossible(thread) { possible.append(thread) }
        if possible.isEmpty { waitForTimer() }
        guard !possible.isEmpty else {
            isOver = true
            if threads.contains(where: { !$0.isFinished && $0.queue == nil }) { failure = stuck() }
            return end(me)
        }
        let choice = possible.count == 1 ? 0 : chooser.choose(possible.count, staying: canStay, kind: 0)
        let next = possible[choice]
        guard next !== me else { return }
        current = next
        unsafe cfiber_switch(me.fiber, next.fiber)
    }

    /// Nothing happens any more until the next timer fires.
    private func waitForTimer() {
        var first: (time: UInt64, thread: VirtualThread)?
        for thread in threads {
            let time: UInt64? =
                switch thread.next {
                case .wait(_, let time): time
                case .work(let queue): queue.nextTime
                default: nil
                }
            if let time, time < first?.time ?? .max { first = (time, thread) }
        }
        if let first { possible.append(first.thread) }
    }

    private func end(_ me: VirtualThread) {
        guard me !== outside else { return }
        current = outside
        unsafe cfiber_switch(me.fiber, outside.fiber)
    }

    private func stuck() -> String {
        let waiting = threads.filter { !$0.isFinished && $0.queue == nil }
        return "nobody can go on: " + waiting.map { "\($0.name) waits to \(describe($0.next))" }.joined(separator: ", ")
    }

    private func describe(_ step: Step) -> String {
        switch step {
        case .run(let name, let argument): "\(name) \(String(argument, radix: 16))"
        case .lock: "lock"
        case .wait: "wake up"
        case .work(let queue): "start a block of \(queue.label)"
        case .until(let name, _): "\(name)"
        case .never: "end"
        }
    }
}
