//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("Lanes")
struct LaneTests {
    @Test("The front is that of a naive model, whichever commands come and leave", arguments: [1, 2, 3, 10, 100])
    func front(lanes: Int) {
        var random = SeededRandom()
        let queues = (0..<lanes).map { DispatchQueue(label: "\($0)") }
        for _ in 0..<20 {
            var waiters = WaiterQueue(policy: .unbounded)
            var model: [PendingCommand] = []
            // The line grows at first, and goes away then.
            for step in 0..<600 {
                if Int.random(in: 0..<3, using: &random) > (step < 300 ? 0 : 1) {
                    let priority = CommandPriority.allCases.randomElement(using: &random)!
                    let command = waiters.append(priority, for: queues.randomElement(using: &random)!)
                    model.insert(command, at: model.firstIndex { $0.priority < priority } ?? model.endIndex)
                } else if !model.isEmpty {
                    waiters.remove(model.remove(at: .random(in: model.indices, using: &random)))
                }
                guard waiters.front === model.first, waiters.count == model.count else {
                    Issue.record("Another front than in the model, of \(model.count)")
                    return
                }
            }
            for command in model {
                #expect(waiters.front === command)
                waiters.remove(command)
            }
            #expect(waiters.front == nil)
        }
    }

    @Test("One timer runs for a value at a time")
    func oneTimer() {
        var waiters = WaiterQueue(policy: .unbounded)
        let commands = (0..<2).map { waiters.append(.medium, for: DispatchQueue(label: "\($0)")) }
        let timers = (0..<3).map { _ in waiters.choose(timerFires: false).timer }
        #expect(timers.map { $0 != nil } == [true, false, false])
        waiters.timerFired()
        #expect(waiters.choose().timer != nil)
        for command in commands { waiters.remove(command) }
    }

    /// As the successor it would free the turn without the lock of the line, and nobody would start the timer.
    @Test("A lane that has the turn is the successor only while the timer runs")
    func ownSuccessor() throws {
        var waiters = WaiterQueue(policy: .unbounded)
        let (lane, queue) = try waiters.laneThatRuns(on: 7)
        let next = waiters.append(.medium, for: queue)
        lane.takesTurn()
        for timerFires in [true, false] {
            #expect(waiters.choose(timerFires: false).timer != nil)
            _ = waiters.choose(turnIsFree: false, timerFires: timerFires)
            #expect((waiters.successor != nil) != timerFires)
        }
        waiters.remove(next)
    }

    @Test(
        "A block that pauses is waited for from then on, however long it has run, with the lock of the line or without",
        arguments: [false, true]
    )
    func pausing(hasLock: Bool) throws {
        let policy = HandoffPolicy.unbounded
        var waiters = WaiterQueue(policy: policy)
        let (lane, queue) = try waiters.laneThatRuns(on: 7)
        let begin = now()
        while now() == begin {}
        let paused = now()
        if hasLock {
            waiters.pause(lane, on: 7)
        } else {
            lane.takesTurn()
            lane.freesTurn(at: paused)
        }
        let next = waiters.append(.medium, for: queue)
        let effects = waiters.choose()
        #expect(effects.dispatch == nil)
        #expect(try #require(effects.timer) >= paused + policy.keeping)
        waiters.remove(next)
    }

    @Test("A block that was given up takes no commands any more: another one is dispatched")
    func givenUp() throws {
        var waiters = WaiterQueue(policy: .impatient)
        let (lane, queue) = try waiters.laneThatRuns()
        let block = lane.blockNumber
        waiters.pause(lane, on: 0)
        let next = waiters.append(.medium, for: queue)
        #expect(waiters.choose(timerFires: false).dispatch == nil)
        #expect(waiters.choose().dispatch === lane)
        let isOld = waiters.arrive(lane, block: block, on: 0)
        #expect(!isOld)
        let isNew = waiters.arrive(lane, block: block + 1, on: 0)
        #expect(isNew)
        waiters.remove(next)
    }

    /// The first is found to be late when its time is over, and then all others are looked at for as long.
    @Test("Queues that stand still are given up together: a thread behind them waits for two bounds, not for each")
    func standingStill() {
        var waiters = WaiterQueue(policy: .impatient)
        let commands = (0..<10).map { waiters.append(.highest, for: DispatchQueue(label: "\($0)")) }
        let thread = PendingCommand(of: Parker())
        waiters.append(thread)
        for _ in 0..<3 { _ = waiters.choose() }
        #expect(waiters.front === thread)
        for command in commands + [thread] { waiters.remove(command) }
    }

    /// Thousands of blocks, each time that one is late, would make the next one late as well, and so on.
    @Test("Queues whose blocks came when one was late are not looked at again so soon", arguments: [0, 60_000_000_000])
    func looking(probing: UInt64) {
        var policy = HandoffPolicy.impatient
        policy.probing = probing
        var waiters = WaiterQueue(policy: policy)
        let commands = (0..<10).map { waiters.append(.highest, for: DispatchQueue(label: "\($0)")) }
        _ = waiters.choose()
        let lanes = waiters.choose().probes
        #expect(lanes.count == 9)
        // The first is next, and then late; the others come and go without the lock of the line.
        #expect(lanes.map { $0.blockIsNeeded() }.count { $0 } == 1)
        #expect(waiters.choose().probes.count == (probing == 0 ? 8 : 0))
        for command in commands { waiters.remove(command) }
    }

    @Test("But one that came later is")
    func lookingAgain() {
        var policy = HandoffPolicy.impatient
        policy.probing = 60_000_000_000
        var waiters = WaiterQueue(policy: policy)
        func append() -> [PendingCommand] {
            (0..<10).map { waiters.append(.highest, for: DispatchQueue(label: "\($0)")) }
        }
        var commands = append()
        for _ in 0..<2 { _ = waiters.choose() }
        commands += append()
        #expect(waiters.choose().probes.count == 10)
        for command in commands { waiters.remove(command) }
    }

    @Test("A block that runs and does something else says nothing of other queues: none is looked at")
    func otherQueues() throws {
        var waiters = WaiterQueue(policy: .impatient)
        let (lane, queue) = try waiters.laneThatRuns()
        waiters.pause(lane, on: 0)
        let next = waiters.append(.highest, for: queue)
        let other = waiters.append(.lowest, for: DispatchQueue(label: "other"))
        _ = waiters.choose(timerFires: false)
        #expect(waiters.choose().probes.isEmpty)
        for command in [next, other] { waiters.remove(command) }
    }

    /// While a lane's block is below a wait on the stack, another block can come only if the queue has room for it.
    @Test(
        "A queue with room for some blocks is waited for once while all of them wait for the turn, and never again",
        arguments: 1...3
    )
    func room(blocks: Int) throws {
        var waiters = WaiterQueue(policy: .impatient)
        let own = try #require(PendingCommand(of: Parker()).thread)
        let (lane, queue) = try waiters.laneThatRuns(on: own)
        for isKnown in [false, true] {
            var threads: [PendingCommand] = []
            for number in 1...blocks {
                let command = waiters.blockWaits(lane, queue, &threads)
                let effects = waiters.choose(timerFires: false)
                if number == blocks {
                    #expect(effects.probes.contains { $0 === lane } == isKnown)
                    #expect(waiters.front === (isKnown ? threads[0] : command))
                    // Now the other block is late.
                    for _ in 0..<2 { _ = waiters.choose() }
                    #expect(waiters.front === threads[0])
                    for thread in threads {
                        waiters.remove(thread)
                        lane.blockReturns()
                    }
                }
                let arrives = waiters.arrive(lane, block: lane.blockNumber, on: own)
                #expect(arrives)
                waiters.remove(command)
            }
        }
    }

    @Test("A queue that has started one block more than it had room for has as much room as any other")
    func moreRoom() throws {
        var waiters = WaiterQueue(policy: .impatient)
        let own = try #require(PendingCommand(of: Parker()).thread)
        let (lane, queue) = try waiters.laneThatRuns(on: own)
        for _ in 0..<2 {
            var threads: [PendingCommand] = []
            let command = waiters.blockWaits(lane, queue, &threads)
            #expect(!waiters.choose(timerFires: false).probes.contains { $0 === lane })
            for _ in 0..<2 { _ = waiters.choose() }
            #expect(waiters.front === threads[0])
            waiters.remove(threads[0])
            // The block below has not returned.
            let arrives = waiters.arrive(lane, block: lane.blockNumber, on: own)
            #expect(arrives)
            waiters.remove(command)
        }
    }

    @Test("What is known of the room of a queue counts when it has been idle")
    func knownRoom() throws {
        var waiters = WaiterQueue(policy: .impatient)
        let own = try #require(PendingCommand(of: Parker()).thread)
        var (lane, queue) = try waiters.laneThatRuns(on: own)
        for isKnown in [false, true] {
            var threads: [PendingCommand] = []
            let command = waiters.blockWaits(lane, queue, &threads)
            #expect(waiters.choose(timerFires: false).probes.contains { $0 === lane } == isKnown)
            for _ in 0..<2 { _ = waiters.choose() }
            waiters.remove(threads[0])
            lane.blockReturns()
            let arrives = waiters.arrive(lane, block: lane.blockNumber, on: own)
            #expect(arrives)
            waiters.remove(command)
            // Now it is idle, and forgotten.
            waiters.leave(lane)
            let next = waiters.append(.medium, for: queue)
            #expect(next.lane !== lane)
            lane = try #require(waiters.choose().dispatch)
            let isBack = waiters.arrive(lane, block: lane.blockNumber, on: own)
            #expect(isBack)
            waiters.remove(next)
            _ = waiters.choose(turnIsFree: false)
        }
    }

    @Test("A block whose thread waits is not waited for, also if its lane is next only later")
    func nextLater() throws {
        var waiters = WaiterQueue(policy: .impatient)
        let own = try #require(PendingCommand(of: Parker()).thread)
        let (lane, queue) = try waiters.laneThatRuns(on: own)
        let urgent = PendingCommand(of: Parker())
        urgent.reuse(for: .highest)
        waiters.append(urgent)
        _ = waiters.choose(timerFires: false)
        var threads: [PendingCommand] = []
        let command = waiters.blockWaits(lane, queue, &threads)
        waiters.remove(urgent)
        #expect(waiters.choose(timerFires: false).dispatch === lane)
        for command in threads + [command] { waiters.remove(command) }
    }

    @Test(
        "A queue that starts a block late is waited for longer, but not if the block stands behind another of the lane",
        arguments: [false, true]
    )
    func blockBehindAnother(firstHasReturned: Bool) throws {
        var policy = HandoffPolicy()
        (policy.keeping, policy.keepingLimit) = (1_000, 600_000_000_000)
        var waiters = WaiterQueue(policy: policy)
        let (lane, queue) = try waiters.laneThatRuns()
        let keeping = lane.keeping(policy)
        let command = waiters.append(.medium, for: queue)
        waiters.leave(lane)
        if firstHasReturned { lane.blockReturns() }
        #expect(waiters.choose().dispatch === lane)
        let begin = now()
        while now() < begin + keeping {}
        let arrives = waiters.arrive(lane, block: lane.blockNumber, on: 0)
        #expect(arrives)
        #expect((lane.keeping(policy) > keeping) == firstHasReturned)
        waiters.remove(command)
    }

    @Test("A queue that was late is waited for longer the next time, and no other queue is")
    func lateQueue() throws {
        var policy = HandoffPolicy()
        (policy.keeping, policy.keepingLimit) = (300_000_000_000, 600_000_000_000)
        var waiters = WaiterQueue(policy: policy)
        let (lane, queue) = try waiters.laneThatRuns()
        lane.adapt(to: policy.keeping)
        // Now it is idle, and forgotten.
        waiters.leave(lane)
        for (target, wasLate) in [(DispatchQueue(label: "another"), false), (queue, true)] {
            let command = waiters.append(.medium, for: target)
            let next = try #require(waiters.choose().dispatch)
            #expect(next !== lane)
            #expect((next.keeping(policy) > policy.keeping) == wasLate)
            waiters.remove(command)
        }
    }

    @Test("A queue keeps its lane while that has a block, and no longer")
    func forgotten() throws {
        var waiters = WaiterQueue(policy: .unbounded)
        let queue = DispatchQueue(label: "target")
        let cancelled = waiters.append(.medium, for: queue)
        let lane = try #require(waiters.choose().dispatch)
        waiters.remove(cancelled)
        let again = waiters.append(.medium, for: queue)
        #expect(again.lane === lane)
        waiters.remove(again)
        let arrives = waiters.arrive(lane, block: lane.blockNumber, on: 0)
        #expect(arrives)
        waiters.leave(lane)
        let last = waiters.append(.medium, for: queue)
        #expect(last.lane !== lane)
        waiters.remove(last)
    }

    @Test("A command that comes after the only one was cancelled is counted")
    func afterCancelled() {
        var waiters = WaiterQueue(policy: .unbounded)
        let queue = DispatchQueue(label: "target")
        waiters.remove(waiters.append(.medium, for: queue))
        let command = waiters.append(.medium, for: queue)
        #expect(waiters.count(of: .medium) == 1)
        waiters.remove(command)
    }

    @Test("A block that comes back late takes nothing away from the lane that its queue has by then")
    func anotherLane() throws {
        var waiters = WaiterQueue(policy: .impatient)
        let (lane, queue) = try waiters.laneThatRuns()
        waiters.pause(lane, on: 0)
        let cancelled = waiters.append(.medium, for: queue)
        _ = waiters.choose()
        // Something else is next, so the block, which is late, is given up.
        let urgent = PendingCommand(of: Parker())
        urgent.reuse(for: .highest)
        waiters.append(urgent)
        _ = waiters.choose()
        waiters.remove(urgent)
        waiters.remove(cancelled)
        let command = waiters.append(.medium, for: queue)
        #expect(command.lane !== lane)
        _ = waiters.arrive(lane, block: lane.blockNumber, on: 0)
        waiters.leave(lane)
        #expect(waiters.count(of: .medium) == 1)
        waiters.remove(command)
    }
}

extension HandoffPolicy {
    /// No turn is kept for a queue.
    fileprivate static var impatient: HandoffPolicy {
        var policy = HandoffPolicy()
        (policy.keeping, policy.keepingLimit) = (0, 0)
        return policy
    }
}

extension WaiterQueue {
    /// Chooses the successor, after the timer has fired.
    fileprivate mutating func choose(turnIsFree: Bool = true, timerFires: Bool = true) -> Effects {
        var effects = Effects()
        if timerFires { timerFired() }
        chooseSuccessor(holder: turnIsFree ? 0 : 7, &effects)
        return effects
    }

    /// The block of a lane calls a completion, which submits another command and then waits.
    ///
    /// - Returns: That command.
    fileprivate mutating func blockWaits(
        _ lane: Lane,
        _ queue: DispatchQueue,
        _ threads: inout [PendingCommand]
    ) -> PendingCommand {
        let thread = PendingCommand(of: Parker())
        pause(lane, on: thread.thread!)
        let command = append(.medium, for: queue)
        // The lane is the successor. Later on not: here all threads are one, which waits already.
        if threads.isEmpty { _ = choose() }
        append(thread)
        threads.append(thread)
        return command
    }

    /// A lane whose block has taken its only command and runs it.
    fileprivate mutating func laneThatRuns(on thread: UInt64 = 0) throws -> (Lane, DispatchQueue) {
        let queue = DispatchQueue(label: "target")
        let command = append(.medium, for: queue)
        let lane = try #require(choose().dispatch)
        let arrives = arrive(lane, block: lane.blockNumber, on: thread)
        #expect(arrives)
        remove(command)
        _ = choose(turnIsFree: false)
        return (lane, queue)
    }
}
