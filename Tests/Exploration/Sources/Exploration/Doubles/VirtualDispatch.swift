//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

// Doubles of what the library uses of Dispatch. A type of this module hides the imported one of the same name.

/// A semaphore: waiting is a step that is possible once somebody has signalled; signalling is none, like an unlock.
public final class DispatchSemaphore: @unchecked Sendable {
    private(set) var count: Int
    private let id = world.newObject()

    init(value: Int) {
        count = value
    }

    func wait() {
        world.monitor.parks(world.current)
        world.pass(.wait(self))
        change(by: -1)
    }

    /// The same with an end, which may come at any moment.
    func wait(timeout: DispatchTime) -> DispatchTimeoutResult {
        guard timeout.uptimeNanoseconds < .max else {
            wait()
            return .success
        }
        world.monitor.parks(world.current)
        world.pass(.waitFor(self))
        let isSignalled = count > 0
        world.current.observe(isSignalled ? 1 : 0)
        if isSignalled {
            change(by: -1)
        } else {
            world.advanceClock(to: timeout.uptimeNanoseconds)
            world.monitor.isOutOfTime(world.current)
        }
        return isSignalled ? .success : .timedOut
    }

    @discardableResult
    func signal() -> Int {
        change(by: 1)
        world.current.observe(2)
        return 0
    }

    private func change(by difference: Int) {
        world.objectChanged(id, from: UInt64(count), to: UInt64(count + difference))
        count += difference
    }

    deinit {
        world.objectChanged(id, from: UInt64(count), to: 0)
    }
}

/// A time: the virtual clock stands still, but for the jumps that a scenario allows and those that make a timer due.
public struct DispatchTime {
    let uptimeNanoseconds: UInt64

    static var distantFuture: DispatchTime { DispatchTime(uptimeNanoseconds: .max) }

    static func now() -> DispatchTime {
        DispatchTime(uptimeNanoseconds: world.readClock())
    }
}

/// A target queue: its workers are virtual threads that start its blocks whenever the scheduler likes.
public final class DispatchQueue: @unchecked Sendable {
    // The first member: the library tells queues apart by it.
    private let id: UInt64
    /// What names the queue.
    public let label: String
    let width: Int
    private var execution = -1
    private var blocks: [Block] = []
    private var timers: [(deadline: UInt64, block: Block)] = []
    private(set) var isSuspended = false

    struct Block {
        let tag: UInt64
        let run: () -> Void
    }

    /// A serial queue, or a concurrent one of two workers.
    convenience init(label: String, qos: DispatchQoS = .default, attributes: Attributes = .serial) {
        self.init(label: label, width: attributes == .serial ? 1 : 2)
    }

    enum Attributes {
        case serial
        case concurrent
    }

    /// A queue that runs up to `width` blocks at once.
    init(label: String, width: Int) {
        self.label = label
        self.width = width
        id = label.utf8.reduce(1) { mix($0, UInt64($1)) }
    }

    /// A serial queue.
    public static var main: DispatchQueue {
        world.queue("com.apple.main-thread", width: 1)
    }

    /// A queue of two workers.
    public static func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue {
        world.queue("com.apple.root.\(qos)", width: 2)
    }
}

extension DispatchQueue {
    /// Adds a block, which a worker starts when the scheduler likes.
    public func async(execute block: @escaping () -> Void) {
        dispatch(identity, block)
    }

    /// The same for the block of a lane of this identity, if one is to be dispatched.
    func dispatch(_ lane: UInt, _ block: @escaping () -> Void) {
        world.pass(.run("async", id))
        append(world.current.owes(lane), block)
    }

    /// Adds a block, in the step of the caller.
    func append(_ tag: UInt64, _ block: @escaping () -> Void) {
        enter()
        change { blocks.append(Block(tag: tag, run: block)) }
    }

    func asyncAfter(deadline: DispatchTime, tag: UInt64, execute block: @escaping () -> Void) {
        world.pass(.run("asyncAfter", id))
        enter()
        change { timers.append((deadline.uptimeNanoseconds, Block(tag: tag, run: block))) }
        world.timersChanged(by: 1)
    }

    func suspend() {
        world.pass(.run("suspend", id))
        enter()
        change { isSuspended = true }
    }

    func resume() {
        world.pass(.run("resume", id))
        enter()
        change { isSuspended = false }
    }

    /// Whether a worker could start a block. A timer may be due at any moment.
    var hasWork: Bool { !isSuspended && !(blocks.isEmpty && timers.isEmpty) }

    var isEmpty: Bool { blocks.isEmpty && timers.isEmpty }

    /// What each worker does, once it may start its first block.
    func work() {
        while true {
            runBlock()
            world.current.forget()
            world.pass(.work(self))
        }
    }

    // A function of its own, so that the block goes away before the worker waits.
    @inline(never)
    private func runBlock() {
        let block = takeBlock()
        world.current.begins(block.tag)
        block.run()
    }

    private func takeBlock() -> Block {
        change {
            if !blocks.isEmpty { return blocks.removeFirst() }
            let next = timers.indices.min { timers[$0].deadline < timers[$1].deadline }!
            let (deadline, block) = timers.remove(at: next)
            world.timersChanged(by: -1)
            world.advanceClock(to: deadline)
            return block
        }
    }

    /// The first use in an execution: nothing is in the queue, and its workers are there.
    func enter() {
        guard execution != world.execution else { return }
        execution = world.execution
        blocks = []
        timers = []
        isSuspended = false
        for number in 0..<width { world.addWorker("\(label)/\(number)", of: self) }
    }

    private func change<Answer>(_ body: () -> Answer) -> Answer {
        let before = contents
        let answer = body()
        world.objectChanged(id, from: before, to: contents)
        return answer
    }

    private var contents: UInt64 {
        var hash: UInt64 = isSuspended ? 1 : 0
        for block in blocks { hash = mix(hash, block.tag) }
        for (deadline, block) in timers { hash = mix(mix(hash, deadline), block.tag) }
        return hash
    }
}

/// The double of the timers of all command queues: they fire on one worker, whenever the scheduler likes.
struct TimerThreads {
    static let timeouts = TimerThreads()
    static let turns = TimerThreads()

    @discardableResult
    func set(_ time: UInt64, for target: any TimerTarget) -> Timer {
        // It is about the value whose line asked for it.
        let tag = UInt64(world.current.lastValue)
        world.queue("timers", width: 1).asyncAfter(deadline: DispatchTime(uptimeNanoseconds: time), tag: tag) {
            target.timerFired()
        }
        return Timer(time, target)
    }

    func remove(_ timer: Timer) { world.fail("no scenario has awaited commands") }
}
