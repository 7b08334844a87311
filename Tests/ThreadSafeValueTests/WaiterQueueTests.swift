//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("WaiterQueue")
struct WaiterQueueTests {
    @Test("A line is served highest first, in order of arrival among equals, with 100,000 commands as with 10")
    func order() {
        var random = SeededRandom()
        for (count, lanes) in [(10, 4), (100_000, 4), (10_000, 1_000)] {
            var waiters = WaiterQueue(policy: .unbounded)
            let queues = (0..<lanes).map { DispatchQueue(label: "\($0)") }
            var commands: [PendingCommand] = []
            for _ in 0..<count {
                let priority = CommandPriority.allCases.randomElement(using: &random)!
                commands.append(waiters.append(priority, in: queues.randomElement(using: &random)!, or: &random))
            }
            let expected = CommandPriority.allCases.reversed().flatMap { level in
                commands.filter { $0.priority == level }
            }
            var mismatches = 0
            for command in expected {
                if waiters.front !== command { mismatches += 1 }
                waiters.remove(command)
            }
            #expect(mismatches == 0)
            #expect(waiters.front == nil)
            #expect(waiters.count == 0)
        }
    }

    @Test(
        "Random arrivals, wakings, barging and releases: the turn goes to the naive model's front, and nobody is forgotten"
    )
    func random() throws {
        var random = SeededRandom()
        for _ in 0..<300 {
            var simulation = Simulation(policy: .unbounded)
            for _ in 0..<200 { try simulation.step(&random) }
            try simulation.drain(&random)
        }
    }

    @Test("Target queues that never start stop nobody else, and are served when they do")
    func late() throws {
        var random = SeededRandom()
        for _ in 0..<100 {
            var policy = HandoffPolicy.unbounded
            (policy.keeping, policy.keepingLimit) = (0, 0)
            var simulation = Simulation(policy: policy, lanesStandStill: true)
            for _ in 0..<100 { try simulation.step(&random) }
            try simulation.drain(&random)
            #expect(simulation.served > 0)
        }
    }

    @Test("A lane whose queue is late lets the next go only if something else waits")
    func nothingElse() {
        var policy = HandoffPolicy()
        policy.keeping = 0
        var waiters = WaiterQueue(policy: policy)
        let command = waiters.append(.lowest, for: DispatchQueue(label: "late"))
        var effects = WaiterQueue.Effects()
        waiters.chooseSuccessor(turnIsFree: true, &effects)
        let lane = effects.dispatch
        #expect(lane != nil)
        #expect(effects.timer == nil)
        // The block is dispatched.
        effects = WaiterQueue.Effects()
        waiters.chooseSuccessor(turnIsFree: true, &effects)
        #expect(waiters.front === command)
        let parker = Parker()
        let thread = PendingCommand(of: parker)
        waiters.append(thread, on: 0, &effects)
        waiters.chooseSuccessor(turnIsFree: true, &effects)
        #expect(waiters.front === thread)
        #expect(effects.wake === parker)
        let arrives = lane.map { waiters.arrives($0) }
        #expect(arrives == true)
        #expect(waiters.front === command)
        waiters.remove(command)
        waiters.remove(thread)
    }

    @Test("The successor changes when something more urgent comes, which is woken at once")
    func urgent() {
        var waiters = WaiterQueue(policy: HandoffPolicy())
        let low = Parker()
        let high = Parker()
        let first = PendingCommand(of: low)
        let better = PendingCommand(of: high)
        better.reuse(for: .highest)
        var effects = WaiterQueue.Effects()
        waiters.append(first, on: 0, &effects)
        waiters.chooseSuccessor(turnIsFree: true, &effects)
        #expect(effects.wake === low)
        effects = WaiterQueue.Effects()
        waiters.append(better, on: 0, &effects)
        waiters.chooseSuccessor(turnIsFree: true, &effects)
        #expect(effects.wake === high)
        waiters.remove(first)
        waiters.remove(better)
    }

    @Test("A lane runs as many commands in one go as a batch has")
    func batch() {
        var policy = HandoffPolicy()
        policy.batch = 2
        let waiters = WaiterQueue(policy: policy)
        #expect(waiters.mayGoOn(after: 1))
        #expect(!waiters.mayGoOn(after: 2))
    }

    @Test("A queue has one lane, whatever object stands for it")
    func oneLane() {
        var waiters = WaiterQueue(policy: HandoffPolicy())
        let commands = [
            waiters.append(.lowest, for: .global(qos: .utility)),
            waiters.append(.lowest, for: .global(qos: .background)),
            waiters.append(.lowest, for: .global(qos: .utility)),
            waiters.append(.lowest, for: DispatchQueue(label: "another")),
        ]
        let lanes = commands.map { command in unsafe ObjectIdentifier(command.lane!) }
        #expect(lanes[0] == lanes[2])
        #expect(Set(lanes).count == 3)
        for command in commands { waiters.remove(command) }
    }

    @Test("A lane that has a block dispatches no other")
    func oneBlock() {
        var waiters = WaiterQueue(policy: HandoffPolicy())
        let work = waiters.append(.lowest, for: DispatchQueue(label: "one block"))
        var effects = WaiterQueue.Effects()
        waiters.chooseSuccessor(turnIsFree: true, &effects)
        #expect(effects.dispatch != nil)
        // Something more urgent is the successor, and leaves.
        let urgent = PendingCommand(of: Parker())
        urgent.reuse(for: .highest)
        waiters.append(urgent, on: 0, &effects)
        waiters.chooseSuccessor(turnIsFree: true, &effects)
        waiters.remove(urgent)
        effects = WaiterQueue.Effects()
        waiters.chooseSuccessor(turnIsFree: true, &effects)
        #expect(waiters.successor != nil)
        #expect(effects.dispatch == nil)
        waiters.remove(work)
    }

    @Test("Nobody barges past a woken thread while it looks for the turn")
    func looking() {
        var waiters = WaiterQueue(policy: HandoffPolicy())
        let thread = PendingCommand(of: Parker())
        var effects = WaiterQueue.Effects()
        waiters.append(thread, on: 0, &effects)
        waiters.chooseSuccessor(turnIsFree: true, &effects)
        // It is on its way.
        #expect(waiters.bargingDeadline.allows(.lowest, at: 0))
        let isHere = waiters.successorLooks(thread)
        #expect(isHere)
        #expect(!waiters.bargingDeadline.allows(.lowest, at: 0))
        // It parks again.
        waiters.successorGoes(thread)
        #expect(waiters.bargingDeadline.allows(.lowest, at: 0))
        waiters.remove(thread)
    }

    /// The turn may change hands while the successor is chosen, and then it is chosen again with the same effects.
    @Test("A block that was to be dispatched still is, or its lane keeps its place")
    func lostBlock() {
        var policy = HandoffPolicy()
        (policy.keeping, policy.keepingLimit) = (0, 0)
        var waiters = WaiterQueue(policy: policy)
        let commands = (0..<2).map { waiters.append(.medium, for: DispatchQueue(label: "\($0)")) }
        let lane = unsafe commands[0].lane!
        var effects = WaiterQueue.Effects()
        waiters.chooseSuccessor(turnIsFree: true, &effects)
        #expect(effects.dispatch === lane)
        waiters.chooseSuccessor(turnIsFree: true, &effects)
        // An overdue lane waits for its block, so that one must be on its way.
        #expect(effects.dispatch === lane || !lane.isOverdue)
        for command in commands { waiters.remove(command) }
    }

    @Test("A queue that starts late is waited for longer the next time, up to a limit")
    func adapting() {
        let policy = HandoffPolicy()
        let lane = Lane(target: DispatchQueue(label: "slow"))
        lane.adapt(to: 1_000)
        #expect(lane.keeping(policy) == 5_000_000)
        lane.adapt(to: 16_000_000)
        #expect(lane.keeping(policy) == 32_000_000)
        lane.adapt(to: 40_000_000)
        #expect(lane.keeping(policy) == 50_000_000)
        // No longer wait would do.
        lane.adapt(to: 300_000_000)
        #expect(lane.keeping(policy) == 5_000_000)
    }

    @Test("The limit doubles while its blocks find the turn taken, until the lane has its turn")
    func missing() {
        let policy = HandoffPolicy()
        let lane = Lane(target: DispatchQueue(label: "slow"))
        lane.adapt(to: 300_000_000)
        var times: [UInt64] = []
        for _ in 0..<6 {
            lane.missesTurn()
            times.append(lane.keeping(policy) / 1_000_000)
        }
        #expect(times == [100, 200, 400, 600, 600, 600])
        lane.adapt(to: 5_000_000_000)
        #expect(lane.keeping(policy) == 800_000_000)
        lane.takesTurn()
        #expect(lane.keeping(policy) == 5_000_000)
        // A queue that is fast is not waited for longer, however often its blocks come in vain.
        lane.missesTurn()
        lane.adapt(to: 20_000)
        #expect(lane.keeping(policy) == 5_000_000)
    }

    @Test("When one queue stands still, the blocks of all others are dispatched to see whether they do too")
    func probes() {
        var policy = HandoffPolicy()
        (policy.keeping, policy.keepingLimit) = (0, 0)
        var waiters = WaiterQueue(policy: policy)
        let commands = (0..<10).map { waiters.append(.medium, for: DispatchQueue(label: "\($0)")) }
        var effects = WaiterQueue.Effects()
        waiters.chooseSuccessor(turnIsFree: true, &effects)
        effects = WaiterQueue.Effects()
        waiters.timerFired()
        waiters.chooseSuccessor(turnIsFree: true, &effects)
        #expect(effects.probes.count == 9)
        for command in commands { waiters.remove(command) }
    }
}

/// A line, threads and queues that come when it pleases chance, and a naive model of who is next.
private struct Simulation {
    struct Broken: Error {
        let rule: String
    }

    var waiters: WaiterQueue
    let lanesStandStill: Bool
    var waiting: [PendingCommand] = []
    var turnIsFree = true
    var served = 0

    // Who is on the way: parkers that were woken, lanes that have a block.
    private var woken: [Parker] = []
    private var dispatched: [Lane] = []
    private let queues = (0..<3).map { DispatchQueue(label: "\($0)") }

    init(policy: HandoffPolicy, lanesStandStill: Bool = false) {
        waiters = WaiterQueue(policy: policy)
        self.lanesStandStill = lanesStandStill
    }

    /// The highest of those in line that came first; lanes that are late have no place.
    private var front: PendingCommand? {
        let inLine = waiting.filter { command in
            unsafe command.lane?.isOverdue != true
        }
        return inLine.first { command in inLine.allSatisfy { $0.priority <= command.priority } }
    }

    mutating func step(_ random: inout SeededRandom) throws {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: try append(&random)
        case 3..<6: try threadArrives(&random)
        case 6, 7: if !lanesStandStill { try laneArrives(&random) }
        case 8: newcomer(&random)
        default: try release()
        }
    }

    /// Nothing comes any more: everybody in line must get the turn.
    mutating func drain(_ random: inout SeededRandom) throws {
        if lanesStandStill {
            while waiting.contains(where: \.isThread) || !turnIsFree {
                try moveOn(&random) { try $0.threadArrives(&$1) }
            }
        }
        while !waiting.isEmpty || !turnIsFree {
            try moveOn(&random) { simulation, random in
                if simulation.woken.isEmpty || Bool.random(using: &random) {
                    try simulation.laneArrives(&random)
                } else {
                    try simulation.threadArrives(&random)
                }
            }
        }
        guard waiters.front == nil, waiters.count == 0 else { throw Broken(rule: "an empty line has no front") }
    }

    private mutating func moveOn(
        _ random: inout SeededRandom,
        _ arrive: (inout Self, inout SeededRandom) throws -> Void
    ) throws {
        try release()
        let isStuck = woken.isEmpty && (dispatched.isEmpty || lanesStandStill && waiting.contains(where: \.isThread))
        if turnIsFree, isStuck, !waiting.isEmpty { throw Broken(rule: "somebody is on the way to a free turn") }
        try arrive(&self, &random)
    }

    private mutating func append(_ random: inout SeededRandom) throws {
        let priority = CommandPriority.allCases.randomElement(using: &random)!
        waiting.append(waiters.append(priority, in: queues.randomElement(using: &random)!, or: &random))
        try settle()
    }

    private mutating func threadArrives(_ random: inout SeededRandom) throws {
        guard !woken.isEmpty else { return }
        let parker = woken.remove(at: .random(in: woken.indices, using: &random))
        // A thread that was woken once too often is gone, or looks again.
        guard let command = waiting.first(where: { $0.parker === parker }) else { return }
        if turnIsFree, waiters.front === command {
            waiters.successorGoes(command)
            try take(command)
        } else if !waiters.successorLooks(command) || Bool.random(using: &random) {
            waiters.successorGoes(command)
        } else {
            woken.append(parker)
        }
        try settle()
    }

    private mutating func laneArrives(_ random: inout SeededRandom) throws {
        guard !dispatched.isEmpty else { return }
        let lane = dispatched.remove(at: .random(in: dispatched.indices, using: &random))
        guard waiters.arrives(lane) else { return }
        if turnIsFree, let command = waiters.front, unsafe command.lane === lane {
            try take(command)
            if Bool.random(using: &random) {
                waiters.pause(lane, on: 0)
                dispatched.append(lane)
                return try settle()
            }
        }
        waiters.leave(lane)
        try settle()
    }

    /// A newcomer takes the free turn without the line's knowledge.
    private mutating func newcomer(_ random: inout SeededRandom) {
        if Bool.random(using: &random) { turnIsFree = false }
    }

    private mutating func release() throws {
        guard !turnIsFree else { return }
        turnIsFree = true
        // With a successor, or nobody waiting, a release leaves the line alone.
        if waiters.successor == nil, waiters.front != nil { try settle() }
    }

    private mutating func take(_ command: PendingCommand) throws {
        guard command === front else { throw Broken(rule: "the turn goes to the front") }
        waiters.remove(command)
        waiting.removeAll { $0 === command }
        turnIsFree = false
        served += 1
    }

    private mutating func settle(again: Int = 0) throws {
        var effects = WaiterQueue.Effects()
        waiters.chooseSuccessor(turnIsFree: turnIsFree, &effects)
        if let parker = effects.wake { woken.append(parker) }
        if let lane = effects.dispatch { dispatched.append(lane) }
        dispatched += effects.probes
        if effects.timer != nil {
            waiters.timerFired()
            // Each time another lane is late.
            guard again <= queues.count + 1 else { throw Broken(rule: "a lane that is late is not the successor") }
            if lanesStandStill { return try settle(again: again + 1) }
        }
        guard waiters.front === front else { throw Broken(rule: "the front is the highest that came first") }
        if turnIsFree, waiters.front != nil, waiters.successor == nil {
            throw Broken(rule: "a free turn has a successor")
        }
        switch waiters.successor {
        case .thread(let command):
            guard woken.contains(where: { command.parker === $0 }) else {
                throw Broken(rule: "a thread that is the successor was woken")
            }
        case .lane(let lane):
            guard dispatched.contains(where: { $0 === lane }) else {
                throw Broken(rule: "a lane that is the successor has a block")
            }
        case nil: break
        }
    }
}

extension PendingCommand {
    fileprivate var isThread: Bool { unsafe lane == nil }
}

extension WaiterQueue {
    /// A command for a target queue that is never run.
    fileprivate mutating func append(_ priority: CommandPriority, for target: DispatchQueue) -> PendingCommand {
        append(priority, for: target) { _ in .complete(isChange: false, tell: nil) }
    }

    /// A command for a target queue or of a thread, as it pleases chance.
    fileprivate mutating func append(
        _ priority: CommandPriority,
        in target: DispatchQueue,
        or random: inout SeededRandom
    ) -> PendingCommand {
        if Int.random(in: 0..<4, using: &random) > 0 { return append(priority, for: target) }
        let command = PendingCommand(of: Parker())
        command.reuse(for: priority)
        var effects = Effects()
        append(command, on: 0, &effects)
        return command
    }

    /// The latest block of a lane arrives.
    fileprivate mutating func arrives(_ lane: Lane) -> Bool {
        arrive(lane, block: lane.blockNumber, on: 0)
    }
}
