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

    @Test("A queue that was only looked at is forgotten with its last command", arguments: [false, true])
    func lookedAt(blockHasCome: Bool) {
        var waiters = WaiterQueue(policy: .impatient)
        let queues = (0..<3).map { DispatchQueue(label: "\($0)") }
        let commands = queues.map { waiters.append(.highest, for: $0) }
        _ = waiters.choose()
        let lane = waiters.choose().probes[1]
        #expect(lane === commands[2].lane)
        if blockHasCome { #expect(!lane.blockIsNeeded()) }
        for command in commands { waiters.remove(command) }
        if !blockHasCome {
            #expect(lane.blockIsNeeded())
            let arrives = waiters.arrive(lane, block: lane.blockNumber, on: 0)
            #expect(arrives)
            waiters.leave(lane)
            waiters.blockReturns(lane)
        }
        // It is another lane then.
        let next = waiters.append(.highest, for: queues[2])
        #expect(next.lane !== lane)
        waiters.remove(next)
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
                        waiters.blockReturns(lane)
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
            waiters.blockReturns(lane)
            let arrives = waiters.arrive(lane, block: lane.blockNumber, on: own)
            #expect(arrives)
            waiters.remove(command)
            // Now it is idle, and forgotten.
            waiters.leave(lane)
            waiters.blockReturns(lane)
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

    @Test("But it is when that thread has had its turn")
    func waitsNoMore() throws {
        var waiters = WaiterQueue(policy: .unbounded)
        let own = try #require(PendingCommand(of: Parker()).thread)
        let (lane, queue) = try waiters.laneThatRuns(on: own)
        var threads: [PendingCommand] = []
        let command = waiters.blockWaits(lane, queue, &threads)
        waiters.remove(threads[0])
        #expect(waiters.choose(timerFires: false).dispatch == nil)
        waiters.remove(command)
    }

    @Test("So is another block of the lane, if the thread of one that was given up waits")
    func givenUpWaits() throws {
        var waiters = WaiterQueue(policy: .unbounded)
        let own = try #require(PendingCommand(of: Parker()).thread)
        let (lane, queue) = try waiters.laneThatRuns(on: own)
        var threads: [PendingCommand] = []
        let command = waiters.blockWaits(lane, queue, &threads)
        #expect(waiters.choose(timerFires: false).dispatch === lane)
        let arrives = waiters.arrive(lane, block: lane.blockNumber, on: own + 1)
        #expect(arrives)
        waiters.remove(threads[0])
        waiters.append(threads[0])
        #expect(waiters.choose(timerFires: false).dispatch == nil)
        for command in threads + [command] { waiters.remove(command) }
    }

    @Test("So is one of another value on the same thread")
    func otherValueWaits() throws {
        var (waiters, others) = (WaiterQueue(policy: .unbounded), WaiterQueue(policy: .unbounded))
        let thread = PendingCommand(of: Parker())
        let (lane, queue) = try waiters.laneThatRuns(on: thread.thread!)
        waiters.pause(lane, on: thread.thread!)
        _ = others.append(.medium, for: queue)
        thread.block = lane
        others.append(thread)
        let command = waiters.append(.medium, for: queue)
        #expect(waiters.choose(timerFires: false).dispatch == nil)
        waiters.remove(command)
        others.remove(thread)
        others.remove(others.front!)
    }

    @Test("Whether the thread of a block waits is known without a look at all threads that do")
    func manyThreads() throws {
        let times = try [10, 20_000].map { count in
            var waiters = WaiterQueue(policy: .unbounded)
            let threads = (0..<count).map { _ in PendingCommand(of: Parker()) }
            for thread in threads { waiters.append(thread) }
            let present = try (0..<2).map { _ in try waiters.laneThatRuns() }
            var least = UInt64.max
            for _ in 0..<20 {
                // Each is the front in turn, with its block present.
                least = min(
                    least,
                    nanoseconds {
                        for (lane, queue) in present {
                            waiters.pause(lane, on: 0)
                            let command = waiters.append(.highest, for: queue)
                            _ = waiters.choose(timerFires: false)
                            waiters.remove(command)
                        }
                    }
                )
            }
            for thread in threads { waiters.remove(thread) }
            return least
        }
        #expect(times[1] < 20 * times[0], "\(times) ns")
    }

    enum Return {
        case beforeTheNextIsDispatched, beforeTheNextIsLate, whenTheNextIsLate, afterwards
    }

    @Test(
        "A queue that starts a block late is waited for longer, but not if it runs another block of the lane meanwhile",
        arguments: [Return.beforeTheNextIsDispatched, .beforeTheNextIsLate, .whenTheNextIsLate, .afterwards]
    )
    func blockBehindAnother(theFirstReturns: Return) throws {
        var policy = HandoffPolicy()
        (policy.keeping, policy.keepingLimit) = (10_000, 600_000_000_000)
        var waiters = WaiterQueue(policy: policy)
        let (lane, queue) = try waiters.laneThatRuns()
        let keeping = lane.keeping(policy)
        let command = waiters.append(.medium, for: queue)
        waiters.leave(lane)
        func comes(_ time: Return) {
            if theFirstReturns == time { waiters.blockReturns(lane) }
        }
        comes(.beforeTheNextIsDispatched)
        #expect(waiters.choose().dispatch === lane)
        comes(.beforeTheNextIsLate)
        let begin = now()
        while now() < begin + 100 * keeping {}
        comes(.whenTheNextIsLate)
        let arrives = waiters.arrive(lane, block: lane.blockNumber, on: 0)
        #expect(arrives)
        let learned = lane.keeping(policy)
        switch theFirstReturns {
        case .whenTheNextIsLate: #expect(learned < 200 * keeping)
        // It had returned, or the queue has run both.
        case .beforeTheNextIsDispatched, .beforeTheNextIsLate, .afterwards: #expect(learned >= 200 * keeping)
        }
        waiters.remove(command)
    }

    @Test(
        "A queue is waited for no longer than any other while it has no room beside another block of the lane",
        arguments: [false, true]
    )
    func blockBehindAnotherIsLate(theFirstHasReturned: Bool) throws {
        var policy = HandoffPolicy.impatient
        policy.keepingLimit = 600_000_000_000
        var waiters = WaiterQueue(policy: policy)
        let (lane, queue) = try waiters.laneThatRuns()
        lane.adapt(to: 300_000_000_000, room: 1)
        let command = waiters.append(.medium, for: queue)
        let thread = PendingCommand(of: Parker())
        waiters.append(thread)
        waiters.pause(lane, on: 0)
        _ = waiters.choose(timerFires: false)
        // The block, which does something else, is given up.
        #expect(waiters.choose().dispatch === lane)
        if theFirstHasReturned { waiters.blockReturns(lane) }
        _ = waiters.choose()
        #expect(waiters.front === (theFirstHasReturned ? command : thread))
        for command in [command, thread] { waiters.remove(command) }
    }

    @Test("A queue whose block came in vain is not taken for one that is in time, when the next one comes")
    func blockInVain() throws {
        var policy = HandoffPolicy()
        policy.keepingLimit = 600_000_000_000
        var waiters = WaiterQueue(policy: policy)
        let (lane, queue) = try waiters.laneThatRuns()
        let command = waiters.append(.medium, for: queue)
        lane.adapt(to: 250_000_000_000)
        lane.missesTurn()
        for isKnown in [true, false] {
            waiters.leave(lane)
            waiters.blockReturns(lane)
            #expect(waiters.choose().dispatch === lane)
            let arrives = waiters.arrive(lane, block: lane.blockNumber, on: 0)
            #expect(arrives)
            lane.takesTurn()
            #expect((lane.keeping(policy) >= 500_000_000_000) == isKnown)
        }
        waiters.remove(command)
    }

    /// The one that was given up last may be another lane, behind the same thread.
    @Test(
        "A block that comes as soon as none is waited for any more teaches nothing of its queue, if none came in vain",
        arguments: [(5, 5, false), (6, 5, false), (7, 5, false), (20, 5, false), (11, 10, false), (6, 5, true)]
            as [(UInt64, UInt64, Bool)]
    )
    func blockBehindWaitingThread(milliseconds: UInt64, givenUp: UInt64, isInVain: Bool) throws {
        let policy = HandoffPolicy()
        var waiters = WaiterQueue(policy: .impatient)
        let queue = DispatchQueue(label: "target")
        let command = waiters.append(.medium, for: queue)
        let thread = PendingCommand(of: Parker())
        waiters.append(thread)
        let lane = try #require(waiters.choose().dispatch)
        _ = waiters.choose()
        #expect(lane.isOverdue)
        #expect(waiters.latestGiveUp > 0)
        if isInVain { lane.missesTurn() }
        let (time, giveUp) = (milliseconds * 1_000_000, givenUp * 1_000_000)
        lane.adapt(toBlockDispatchedAt: 0, startedAt: time, latestGivenUpAt: giveUp, policy)
        let teachesNothing = milliseconds <= givenUp + 1 && !isInVain
        #expect((lane.keeping(policy) == policy.keeping) == teachesNothing)
        // What the queue was waited for in vain before is forgotten, however late it was.
        for delay: UInt64 in [4, 20, 30, 50, 70, 100, 200] {
            lane.adapt(to: delay * 1_000_000)
            let before = lane.keeping(policy)
            lane.adapt(toBlockDispatchedAt: 0, startedAt: time, latestGivenUpAt: giveUp, policy)
            if teachesNothing { #expect(lane.keeping(policy) == max(before / 2, policy.keeping)) }
        }
        for command in [command, thread] { waiters.remove(command) }
    }

    enum Standing: CaseIterable {
        case allTheTime, allTheTimeAndAgain, onlyAtLast, atFirstAndAtLast, inAnotherLineAtLast
        case inAnotherLineAllTheTime
    }

    @Test(
        "A block that waited behind a thread which stood in line is not late by that, and by no more than that",
        arguments: Standing.allCases
    )
    func blockBehindThreadInLine(standing: Standing) throws {
        let isInTime = [.allTheTime, .allTheTimeAndAgain].contains(standing)
        // The system may stop this thread anywhere, and so make it stand, or not stand, for longer.
        let isRightOnce = try (0..<100).contains { _ in try isLate(behind: standing) != isInTime }
        #expect(isRightOnce)
    }

    private func isLate(behind standing: Standing) throws -> Bool {
        var policy = HandoffPolicy()
        (policy.keeping, policy.keepingLimit) = (10_000, 600_000_000_000)
        var waiters = WaiterQueue(policy: policy, identity: 1)
        var others = WaiterQueue(policy: policy, identity: 2)
        let queue = DispatchQueue(label: "target")
        let command = waiters.append(.medium, for: queue)
        let other = others.append(.medium, for: queue)
        let parker = Parker()
        let thread = PendingCommand(of: parker)
        if standing == .inAnotherLineAllTheTime {
            others.append(thread)
        } else if standing != .onlyAtLast {
            waiters.append(thread)
        }
        let lane = try #require(waiters.choose().dispatch)
        if standing == .atFirstAndAtLast { waiters.remove(thread) }
        let begin = now()
        while now() < begin + 100 * policy.keeping {}
        switch standing {
        case .allTheTime: waiters.remove(thread)
        case .allTheTimeAndAgain:
            waiters.remove(thread)
            waiters.append(thread)
            waiters.remove(thread)
        case .onlyAtLast, .atFirstAndAtLast:
            waiters.append(thread)
            waiters.remove(thread)
        case .inAnotherLineAtLast:
            waiters.remove(thread)
            others.append(thread)
            others.remove(thread)
        case .inAnotherLineAllTheTime: others.remove(thread)
        }
        // As if it had come in vain, as only that teaches a lane something which is overdue.
        lane.missesTurn()
        let arrives = waiters.arrive(lane, block: lane.blockNumber, on: thread.thread!, parker)
        #expect(arrives)
        waiters.remove(command)
        others.remove(other)
        return lane.keeping(policy) >= 100 * policy.keeping
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
        waiters.blockReturns(lane)
        for (target, wasLate) in [(DispatchQueue(label: "another"), false), (queue, true)] {
            let command = waiters.append(.medium, for: target)
            let next = try #require(waiters.choose().dispatch)
            #expect(next !== lane)
            #expect((next.keeping(policy) > policy.keeping) == wasLate)
            waiters.remove(command)
        }
    }

    @Test("A queue that was late, and has been in time since, is waited for no longer than any other")
    func formerlyLateQueue() throws {
        var policy = HandoffPolicy()
        (policy.keeping, policy.keepingLimit) = (300_000_000_000, 600_000_000_000)
        var waiters = WaiterQueue(policy: policy)
        var (lane, queue) = try waiters.laneThatRuns()
        for delay in [policy.keeping, 0] {
            lane.adapt(to: delay)
            waiters.leave(lane)
            waiters.blockReturns(lane)
            let command = waiters.append(.medium, for: queue)
            lane = try #require(waiters.choose().dispatch)
            #expect((lane.keeping(policy) > policy.keeping) == (delay > 0))
            let arrives = waiters.arrive(lane, block: lane.blockNumber, on: 0)
            #expect(arrives)
            waiters.remove(command)
        }
    }

    @Test("A queue keeps its lane until the last block of that has returned, and no longer")
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
        // What it has run is let go of, which may take long.
        let next = waiters.append(.medium, for: queue)
        #expect(next.lane === lane)
        waiters.remove(next)
        waiters.blockReturns(lane)
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
        thread.block = lane
        pause(lane, on: thread.thread!)
        let command = append(.medium, for: queue)
        _ = choose(timerFires: false)
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
