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

    @Test("Random arrivals, wakings, barging and releases: the turn goes to the naive model's front; none is forgotten")
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
        waiters.chooseSuccessor(holder: 0, &effects)
        let lane = effects.dispatch
        #expect(lane != nil)
        #expect(effects.timer == nil)
        // The block is dispatched.
        effects = WaiterQueue.Effects()
        waiters.chooseSuccessor(holder: 0, &effects)
        #expect(waiters.front === command)
        let parker = Parker()
        let thread = PendingCommand(of: parker)
        waiters.append(thread)
        waiters.chooseSuccessor(holder: 0, &effects)
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
        waiters.append(first)
        waiters.chooseSuccessor(holder: 0, &effects)
        #expect(effects.wake === low)
        effects = WaiterQueue.Effects()
        waiters.append(better)
        waiters.chooseSuccessor(holder: 0, &effects)
        #expect(effects.wake === high)
        waiters.remove(first)
        waiters.remove(better)
    }

    @Test("The front spins once more before it parks, and nobody wakes it meanwhile; one behind it parks at once")
    func spins() {
        var waiters = WaiterQueue(policy: HandoffPolicy())
        let parker = Parker()
        let front = PendingCommand(of: parker)
        let behind = PendingCommand(of: Parker())
        let spins = [front, behind].map { waiters.appendSpinning($0) }
        #expect(spins == [true, false])
        var effects = WaiterQueue.Effects()
        waiters.chooseSuccessor(holder: 0, &effects)
        #expect(effects.wake == nil)
        #expect(waiters.hasTrueSuccessor)
        // It has looked in vain.
        waiters.successorGoes(front)
        front.parks()
        waiters.chooseSuccessor(holder: 0, &effects)
        #expect(effects.wake === parker)
        waiters.remove(front)
        waiters.remove(behind)
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
        let lanes = commands.map { command in ObjectIdentifier(command.lane!) }
        #expect(lanes[0] == lanes[2])
        #expect(Set(lanes).count == 3)
        for command in commands { waiters.remove(command) }
    }

    @Test("A lane that has a block dispatches no other")
    func oneBlock() {
        var waiters = WaiterQueue(policy: HandoffPolicy())
        let work = waiters.append(.lowest, for: DispatchQueue(label: "one block"))
        var effects = WaiterQueue.Effects()
        waiters.chooseSuccessor(holder: 0, &effects)
        #expect(effects.dispatch != nil)
        // Something more urgent is the successor, and leaves.
        let urgent = PendingCommand(of: Parker())
        urgent.reuse(for: .highest)
        waiters.append(urgent)
        waiters.chooseSuccessor(holder: 0, &effects)
        waiters.remove(urgent)
        effects = WaiterQueue.Effects()
        waiters.chooseSuccessor(holder: 0, &effects)
        #expect(waiters.successor != nil)
        #expect(effects.dispatch == nil)
        waiters.remove(work)
    }

    @Test("Nobody barges past a woken thread while it looks for the turn")
    func looking() {
        var waiters = WaiterQueue(policy: HandoffPolicy())
        let thread = PendingCommand(of: Parker())
        var effects = WaiterQueue.Effects()
        waiters.append(thread)
        waiters.chooseSuccessor(holder: 0, &effects)
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

    @Test("When a newcomer has found that the front's time is over, nobody barges past that, but past the next one")
    func bargingEnds() {
        var waiters = WaiterQueue(policy: HandoffPolicy())
        let commands = (0..<2).map { _ in PendingCommand(of: Parker()) }
        waiters.append(commands[0])
        waiters.endBarging()
        waiters.append(commands[1])
        #expect(!waiters.bargingDeadline.allows(.lowest, at: 0))
        waiters.remove(commands[0])
        #expect(waiters.bargingDeadline.allows(.lowest, at: 0))
        waiters.remove(commands[1])
    }

    @Test("Newcomers barge for longer the more threads wait, whatever waits for target queues", arguments: 0..<5)
    func bargingTime(threads: Int) {
        var policy = HandoffPolicy()
        policy.barging = 600_000_000_000
        var waiters = WaiterQueue(policy: policy)
        let begin = now()
        var commands = (0..<threads).map { _ in PendingCommand(of: Parker()) }
        for command in commands { waiters.append(command) }
        commands += (0..<3).map { waiters.append(.lowest, for: DispatchQueue(label: "\($0)")) }
        let time = policy.barging * UInt64(max(threads, 1))
        #expect(waiters.bargingDeadline.allows(.lowest, at: begin + time - 1))
        #expect(!waiters.bargingDeadline.allows(.lowest, at: now() + time))
        for command in commands { waiters.remove(command) }
    }

    /// The turn may change hands while the successor is chosen, and then it is chosen again with the same effects.
    @Test("A block that was to be dispatched still is, or its lane keeps its place")
    func lostBlock() {
        var policy = HandoffPolicy()
        (policy.keeping, policy.keepingLimit) = (0, 0)
        var waiters = WaiterQueue(policy: policy)
        let commands = (0..<2).map { waiters.append(.medium, for: DispatchQueue(label: "\($0)")) }
        let lane = commands[0].lane!
        var effects = WaiterQueue.Effects()
        waiters.chooseSuccessor(holder: 0, &effects)
        #expect(effects.dispatch === lane)
        waiters.chooseSuccessor(holder: 0, &effects)
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
        waiters.chooseSuccessor(holder: 0, &effects)
        effects = WaiterQueue.Effects()
        waiters.timerFired()
        waiters.chooseSuccessor(holder: 0, &effects)
        #expect(effects.probes.count == 9)
        for command in commands { waiters.remove(command) }
    }
}
