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

    var graph: GraphContents?
    let monitor = Monitor()
    var chooser = Chooser()

    /// What all shared objects hold, in one number: zero while each holds what it began with.
    private var objects: UInt64 = 0
    private(set) var clock: UInt64 = 0
    private var jumps: [UInt64] = []
    private(set) var timers = 0

    private(set) var scenario = ""
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
    /// When an execution begins, in nanoseconds of the virtual clock.
    static var beginning: UInt64 { 1_000_000_000 }

    /// A time without the nanoseconds that keep the arrivals of commands apart. The clock goes in whole microseconds.
    static func rounded(_ time: UInt64) -> UInt64 { time / 1_000 }

    /// Runs one execution to its end.
    ///
    /// - Returns: what was wrong, if anything.
    func run(_ scenario: Scenario) -> String? {
        execution += 1
        self.scenario = scenario.name
        for thread in threads { thread.abandon() }
        threads = []
        objects = 0
        outside.objects = 0
        outside.forget()
        clock = Self.beginning
        jumps = scenario.jumps.reversed()
        timers = 0
        steps = 0
        failure = nil
        isOver = false
        current = outside
        monitor.reset(for: scenario)
        let stage = Stage(scenario)
        // Up to its first step a thread meets nobody, so the order does not matter.
        isStarting = true
        for thread in threads where thread.queue == nil { resume(thread) }
        isStarting = false
        decide(after: outside)
        if failure == nil { stage.checkEnd() }
        return failure
    }

    /// Adds a thread of the scenario.
    func addThread(_ name: String, _ body: @escaping () -> Void) {
        add(name, nil, body)
    }

    /// The queue of that label.
    func queue(_ label: String, width: Int) -> DispatchQueue {
        if let queue = queues[label], queue.width == width { return queue }
        let queue = DispatchQueue(label: label, width: width)
        queues[label] = queue
        return queue
    }

    func addWorker(_ name: String, of queue: DispatchQueue) {
        let worker = add(name, queue) { queue.work() }
        worker.forget()
        worker.next = .work(queue)
    }

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
        if !chooser.isOnKnownPath { monitor.checkValues() }
        monitor.lookForOverdueLanes()
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

    func newObject() -> UInt64 {
        current.objects += 1
        return mix(current.observed, current.objects)
    }

    /// Makes something whose name depends on nothing but `name`.
    func named<Object>(_ name: UInt64, _ make: () -> Object) -> Object {
        let (observed, objects) = (current.observed, current.objects)
        current.forget(but: name)
        current.objects = 0
        defer {
            current.recall(observed)
            current.objects = objects
        }
        return make()
    }

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
            if isVerbose { log("the clock jumps to +\(clock - Self.beginning)") }
        }
        current.observe(clock)
        return clock
    }

    func advanceClock(to time: UInt64) {
        clock = max(clock, time)
    }

    func timersChanged(by difference: Int) {
        timers += difference
        if timers > monitor.values { fail("more timers than values") }
    }

    /// Everything that what happens next depends on, in one number.
    var state: UInt64 {
        var sum = objects ^ mix(clock, UInt64(jumps.count))
        for thread in threads {
            sum &+= mix(thread.observed, UInt64(thread.index) << 1 | (thread.isFinished ? 1 : 0))
        }
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

    private func decide(after me: VirtualThread) {
        guard !isOver else { return end(me) }
        possible.removeAll(keepingCapacity: true)
        let canStay = me !== outside && me.next.isPossible
        if canStay { possible.append(me) }
        for thread in threads where thread !== me && thread.next.isPossible { possible.append(thread) }
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

    private func end(_ me: VirtualThread) {
        guard me !== outside else { return }
        current = outside
        unsafe cfiber_switch(me.fiber, outside.fiber)
    }

    private func stuck() -> String {
        let waiting = threads.filter { !$0.isFinished && $0.queue == nil }
        return "nobody can go on: " + waiting.map { "\($0.name) waits to \(describe($0.next))" }.joined(separator: ", ")
    }

    func describe(_ step: Step) -> String {
        switch step {
        case .run(let name, let argument): "\(name) \(String(argument, radix: 16))"
        case .lock: "lock"
        case .wait, .waitFor: "unpark"
        case .work(let queue): "start a block of \(queue.label)"
        case .until(let name, _): "\(name)"
        case .never: "end"
        }
    }
}
