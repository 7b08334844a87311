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
        world.pass(.wait(self, until: nil))
        change(by: -1)
        world.memory.acquire(id)
    }

    /// The same with an end.
    func wait(timeout: DispatchTime) -> DispatchTimeoutResult {
        guard timeout.uptimeNanoseconds < .max else {
            wait()
            return .success
        }
        world.monitor.parks(world.current)
        world.current.observe(timeout.uptimeNanoseconds)
        world.pass(.wait(self, until: timeout.uptimeNanoseconds))
        let isSignalled = count > 0
        world.current.observe(isSignalled ? 1 : 0)
        if isSignalled {
            change(by: -1)
            world.memory.acquire(id)
        } else {
            world.comes(timeout.uptimeNanoseconds, world.monitor.hasTimeout(world.current))
        }
        return isSignalled ? .success : .timedOut
    }

    @discardableResult
    func signal() -> Int {
        if count > 0 { world.fail("a thread is woken twice") }
        world.memory.release(id)
        change(by: 1)
        return 0
    }

    private func change(by difference: Int) {
        world.objectChanged(id, from: UInt64(count), to: UInt64(count + difference))
        count += difference
    }
}

/// A group: waiting is a step that is possible while nobody is in it, or while the thread has not seen who came last;
/// leaving is none, like an unlock.
public final class DispatchGroup: @unchecked Sendable {
    private var count: UInt64 = 0
    private let id = world.newObject()

    func enter() {
        world.pass(.run("enter", id))
        world.memory.change(id)
        change(to: count + 1)
    }

    func leave() {
        world.memory.release(id)
        change(to: count - 1)
    }

    func wait() {
        let thread = world.current
        world.pass(.until("be no more lifted") { self.count == 0 || !world.memory.isSeen(self.id, by: thread) })
        world.memory.acquire(id)
    }

    private func change(to new: UInt64) {
        world.objectChanged(id, from: count, to: new)
        count = new
    }
}

/// A time of the virtual clock.
public struct DispatchTime {
    let uptimeNanoseconds: UInt64

    static var distantFuture: DispatchTime { DispatchTime(uptimeNanoseconds: .max) }

    static func now() -> DispatchTime { DispatchTime(uptimeNanoseconds: world.readClock()) }
}

/// A target queue: its workers are virtual threads that start its blocks whenever the scheduler likes.
public final class DispatchQueue: @unchecked Sendable {
    // The first member: the library tells queues apart by it.
    let id: UInt64
    let label: String
    let width: Int
    private var execution = -1
    private var blocks: [(tag: UInt64, run: () -> Void)] = []
    private var timers: [VirtualTimer] = []
    private var isSuspended = false
    private var specific: OwnQueue?

    /// A queue that runs up to `width` blocks at once.
    init(label: String, width: Int = 1) {
        self.label = label
        self.width = width
        id = label.utf8.reduce(1) { mix($0, UInt64($1)) }
    }

    static var main: DispatchQueue { world.queue("main", width: 1) }

    static func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue { world.queue("\(qos)", width: 2) }

    static var timers: DispatchQueue { world.queue("timers", width: 1) }
}

extension DispatchQueue {
    /// Adds a block, which a worker starts when the scheduler likes.
    func async(execute block: @escaping () -> Void) {
        dispatch(world.current.observed, block)
    }

    /// The same for the block of a lane, which the lane names.
    func async(of run: BlockRun, execute block: @escaping () -> Void) {
        let (id, object) = (world.newObject(), ObjectIdentifier(run))
        world.blocks[object] = id
        dispatch(id) {
            block()
            world.blocks[object] = nil
        }
    }

    private func dispatch(_ tag: UInt64, _ block: @escaping () -> Void) {
        world.pass(.run("async", id))
        enter()
        let view = world.newObject()
        world.memory.release(view)
        change {
            blocks.append(
                (
                    tag,
                    {
                        world.memory.acquire(view)
                        block()
                    }
                )
            )
        }
    }

    func set(_ timer: VirtualTimer) {
        world.pass(.run("set a timer", id))
        enter()
        change { timers.append(timer) }
    }

    func remove(_ timer: VirtualTimer) {
        world.pass(.run("cancel a timer", id))
        change { timers.removeAll { $0 === timer } }
    }

    func setSuspended(_ isSuspended: Bool) {
        world.pass(.run("suspend or resume", id))
        enter()
        change { self.isSuspended = isSuspended }
    }

    /// Whether a worker could start a block.
    var hasWork: Bool {
        if isSuspended || isMain && world.isMainThreadBusy { return false }
        return !blocks.isEmpty || timers.contains { world.mayCome($0.time, $0.isUsers) }
    }

    /// When the next timer fires.
    var nextTime: UInt64? { isSuspended ? nil : timers.map(\.time).min() }

    var isEmpty: Bool { blocks.isEmpty && timers.isEmpty }

    var isMain: Bool { label == "main" }

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
        let block = change {
            if !blocks.isEmpty { return blocks.removeFirst() }
            let timer = timers.remove(at: timers.indices.min { timers[$0].time < timers[$1].time }!)
            world.comes(timer.time, timer.isUsers)
            return (timer.tag, timer.fire)
        }
        world.current.begins(block.tag)
        block.run()
    }

    /// The first use in an execution: nothing is in the queue, and its workers are there.
    func enter() {
        guard execution != world.execution else { return }
        execution = world.execution
        (blocks, timers, isSuspended, specific) = ([], [], false, nil)
        for number in 0..<width { world.addWorker("\(label)/\(number)", of: self) }
    }

    private func change<Answer>(_ body: () -> Answer) -> Answer {
        let before = contents
        let answer = body()
        world.objectChanged(id, from: before, to: contents)
        return answer
    }

    private var contents: UInt64 {
        var hash: UInt64 = (isSuspended ? 1 : 0) + (specific == nil ? 0 : 2)
        for block in blocks { hash = mix(hash, block.tag) }
        for timer in timers { hash = mix(mix(hash, timer.time), timer.tag) }
        return hash
    }
}

extension DispatchQueue {
    func setSpecific(key: DispatchSpecificKey<OwnQueue>, value: OwnQueue) {
        world.pass(.run("set specific", id))
        enter()
        change { specific = value }
    }

    func getSpecific(key: DispatchSpecificKey<OwnQueue>) -> OwnQueue? {
        enter()
        world.current.observe(specific == nil ? 0 : 1)
        return isMain ? DispatchQueue.ownMain : specific
    }

    /// The one thing that is specific: the queue whose block a thread runs.
    static func getSpecific(key: DispatchSpecificKey<OwnQueue>) -> OwnQueue? {
        (world.current.isMain ? DispatchQueue.main : world.current.queue)?.getSpecific(key: key)
    }

    // Of a block of the main queue.
    func setSpecific(key: DispatchSpecificKey<Void>, value: Void) {}
    static func getSpecific(key: DispatchSpecificKey<Void>) -> Void? { world.current.isMain ? () : nil }

    /// A new one each time, as an execution finds nothing of the one before.
    private static var ownMain: OwnQueue { OwnQueue(DispatchQueue.main.identity, passes: .max) }
}

/// Where tasks are resumed.
var awaitedTarget: DispatchQueue { .global() }

/// The double of the library's timers: they fire on one worker. See `World.mayCome` for when.
enum LibraryTimer {
    static func set(at time: UInt64, _ body: @escaping @Sendable () -> Void) {
        DispatchQueue.timers.set(VirtualTimer(time, isUsers: false, body))
    }

    static func setForUser(at time: UInt64, _ body: @escaping @Sendable () -> Void) -> VirtualTimer {
        let timer = VirtualTimer(time, isUsers: true, body)
        DispatchQueue.timers.set(timer)
        return timer
    }
}

final class VirtualTimer {
    let time: UInt64
    /// Whether it is a time-out of the library's user.
    let isUsers: Bool
    let tag: UInt64
    let fire: () -> Void

    init(_ time: UInt64, isUsers: Bool, _ fire: @escaping () -> Void) {
        (self.time, self.isUsers, self.fire) = (time, isUsers, fire)
        // It is about the line that the thread has, or about the command that it waits with.
        tag = isUsers ? mix(1, world.monitor.progress(world.current)) : UInt64(world.current.lockedValue)
    }

    func cancel() { DispatchQueue.timers.remove(self) }
}
