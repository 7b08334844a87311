//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("While the turn is kept for the late block of a slow queue, other slow queues run equals of the front")
struct SlowEqualsTests {
    /// Commands for a queue each, in this order.
    private struct Line: ~Copyable {
        var waiters: WaiterQueue
        var commands: [PendingCommand] = []
        let policy: HandoffPolicy

        init(keeping: UInt64 = 1_000) {
            var policy = HandoffPolicy()
            (policy.keeping, policy.keepingLimit, policy.barging) = (keeping, 600_000_000_000, 0)
            self.policy = policy
            waiters = WaiterQueue(policy: policy)
        }

        /// - Parameters:
        ///   - priority: How urgent it is.
        ///   - isSlow: Whether its queue is known to be.
        ///   - predecessor: The command that the same thread has submitted before, by its place.
        mutating func append(
            _ priority: CommandPriority = .medium,
            isSlow: Bool = true,
            after predecessor: Int? = nil
        ) {
            let arrival = predecessor.map { commands[$0].arrival } ?? 0
            let command = waiters.append(priority, for: DispatchQueue(label: "\(commands.count)"), after: arrival)
            if isSlow { command.lane!.adapt(to: 250_000_000_000) }
            commands.append(command)
        }

        func lane(_ index: Int) -> Lane { commands[index].lane! }

        /// The front becomes the successor, and later its block is late.
        mutating func waitsForFront(comesInVain times: Int = 0) {
            _ = choose()
            for _ in 0..<times { lane(0).missesTurn() }
            if policy.keeping < 1_000_000 { letBlocksBeLate() }
        }

        /// Blocks that are dispatched now are late when this returns.
        func letBlocksBeLate() {
            let begin = now()
            while now() < begin + 2 * policy.keeping {}
        }

        @discardableResult
        mutating func choose() -> WaiterQueue.Effects {
            var effects = WaiterQueue.Effects()
            waiters.timerFired()
            waiters.chooseSuccessor(holder: 0, &effects)
            return effects
        }

        /// What the block of a command's queue may begin when it comes.
        mutating func next(forBlockOf index: Int, startsLate: Bool = true) -> PendingCommand? {
            let lane = lane(index)
            if !lane.hasBlock { lane.dispatch(at: now()) }
            let arrives = waiters.arrive(lane, block: lane.blockNumber, on: 0)
            #expect(arrives)
            // However long the thread was held up since.
            lane.adapt(to: startsLate ? 250_000_000_000 : 0)
            return waiters.next(for: lane)
        }

        mutating func end() {
            for command in commands { waiters.remove(command) }
        }
    }

    @Test("Their blocks are dispatched when that of the front is late")
    func dispatched() {
        var line = Line()
        for _ in 0..<3 { line.append() }
        line.waitsForFront()
        let lanes = line.choose().probes
        #expect(lanes.count == 2 && lanes[0] === line.lane(1) && lanes[1] === line.lane(2))
        #expect(line.waiters.front === line.commands[0])
        // Each once, and they are needed when they come.
        #expect(line.choose().probes.isEmpty)
        #expect(line.lane(1).blockIsNeeded())
        line.end()
    }

    enum Other: CaseIterable, Sendable {
        case lessUrgent, inTime, behindAFrontInTime, behindAFrontThatCameInVain, suspended
    }

    @Test("No others are", arguments: Other.allCases)
    func notDispatched(other: Other) {
        var line = Line(keeping: other == .behindAFrontInTime ? 100_000_000_000 : 1_000)
        line.append()
        line.append(other == .lessUrgent ? .low : .medium, isSlow: other != .inTime)
        line.waitsForFront(comesInVain: other == .behindAFrontThatCameInVain ? 2 : 0)
        if other == .suspended { line.waiters.suspensions = 1 }
        #expect(line.choose().probes.isEmpty)
        line.end()
    }

    @Test("A block that was dispatched only to look at its queue counts from then on")
    func claimed() {
        var line = Line()
        for _ in 0..<2 { line.append() }
        line.waitsForFront()
        line.lane(1).dispatchProbe(at: now())
        #expect(line.choose().probes.isEmpty)
        #expect(line.lane(1).blockIsNeeded())
        line.end()
    }

    @Test("A block of another slow queue begins its command, also behind a third whose block is late too")
    func passes() {
        var line = Line()
        for _ in 0..<3 { line.append() }
        line.waitsForFront()
        line.choose()
        line.letBlocksBeLate()
        #expect(line.next(forBlockOf: 2) === line.commands[2])
        // The front is next all the same, and its block is still the successor.
        #expect(line.waiters.front === line.commands[0])
        #expect(line.waiters.hasTrueSuccessor)
        #expect(line.next(forBlockOf: 0) === line.commands[0])
        #expect(line.next(forBlockOf: 2) == nil)
        line.end()
    }

    enum Obstacle: CaseIterable, Sendable {
        case theFrontIsMoreUrgent
        case theFrontIsInTime
        case theFrontHasNoBlock
        case theFrontCameInVainTwice
        case itsOwnQueueIsInTime
        case itsOwnSubmitterHasTheFront
        case itsOwnSubmitterHasTheThird
        case theThirdIsInTime
        case aThreadIsBefore
    }

    @Test("It does not if something else is before it", arguments: Obstacle.allCases)
    func doesNotPass(obstacle: Obstacle) {
        var line = Line(keeping: obstacle == .theFrontIsInTime ? 100_000_000_000 : 1_000)
        line.append(obstacle == .theFrontIsMoreUrgent ? .high : .medium)
        if obstacle == .itsOwnSubmitterHasTheThird || obstacle == .theThirdIsInTime { line.append() }
        let thread = PendingCommand(of: Parker())
        thread.reuse(for: .medium)
        if obstacle == .aThreadIsBefore { line.waiters.append(thread) }
        let predecessor: Int? =
            switch obstacle {
            case .itsOwnSubmitterHasTheFront: 0
            case .itsOwnSubmitterHasTheThird: 1
            default: nil
            }
        line.append(after: predecessor)
        if obstacle != .theFrontHasNoBlock {
            line.waitsForFront(comesInVain: obstacle == .theFrontCameInVainTwice ? 2 : 0)
        }
        if obstacle == .itsOwnSubmitterHasTheThird { line.lane(1).dispatch(at: now() - 1_000_000) }
        let isSlow = obstacle != .itsOwnQueueIsInTime
        #expect(line.next(forBlockOf: line.commands.count - 1, startsLate: isSlow) == nil)
        if obstacle == .aThreadIsBefore { line.waiters.remove(thread) }
        line.end()
    }

    @Test("All that are before it must be late", arguments: [nil, 1, 2])
    func severalBefore(blockInTime: Int?) {
        var line = Line()
        for _ in 0..<4 { line.append() }
        line.waitsForFront()
        for index in 1...2 {
            let time = now()
            line.lane(index).dispatch(at: index == blockInTime ? time + 60_000_000_000 : time - 1_000_000)
        }
        #expect((line.next(forBlockOf: 3) === line.commands[3]) == (blockInTime == nil))
        line.end()
    }

    /// The queue of the third is in time: it had a block only so that it was looked at, and that has left again.
    @Test("A queue whose block has come and gone is before it", arguments: [false, true])
    func blockHasCome(leaves: Bool) {
        var line = Line()
        for _ in 0..<3 { line.append() }
        line.waitsForFront()
        line.lane(1).dispatchProbe(at: now() - 1_000_000)
        if leaves { #expect(!line.lane(1).blockIsNeeded()) }
        #expect((line.next(forBlockOf: 2) === line.commands[2]) == !leaves)
        line.end()
    }

    @Test("It passes no more queues than a batch has commands, so that a look takes no longer", arguments: [0, 1])
    func many(more: Int) {
        let count = HandoffPolicy().batch + more
        var line = Line()
        for _ in 0...count { line.append() }
        line.waitsForFront()
        for index in 1..<count { line.lane(index).dispatch(at: now() - 1_000_000) }
        #expect((line.next(forBlockOf: count) === line.commands[count]) == (more == 0))
        line.end()
    }

    @Test("Its own submitter has a command there, before or behind one of somebody else", arguments: [0, 1])
    func severalSubmitters(predecessor: Int) {
        var line = Line()
        let queue = DispatchQueue(label: "front")
        let fronts = (0..<2).map { _ in line.waiters.append(.medium, for: queue) }
        fronts[0].lane!.dispatch(at: now())
        let other = DispatchQueue(label: "other")
        line.commands.append(line.waiters.append(.medium, for: other, after: fronts[predecessor].arrival))
        line.letBlocksBeLate()
        #expect(line.next(forBlockOf: 0) == nil)
        for front in fronts { line.waiters.remove(front) }
        line.end()
    }

    @Test("Who has no command in a queue any more is no obstacle, though others have some there")
    func formerSubmitter() {
        var line = Line()
        let queue = DispatchQueue(label: "front")
        let former = line.waiters.append(.medium, for: queue)
        let lane = former.lane!
        lane.dispatch(at: now())
        let front = line.waiters.append(.medium, for: queue)
        line.waiters.remove(former)
        #expect(line.waiters.front === front)
        line.commands.append(line.waiters.append(.medium, for: DispatchQueue(label: "other"), after: former.arrival))
        line.letBlocksBeLate()
        #expect(line.next(forBlockOf: 0) === line.commands[0])
        line.waiters.remove(front)
        line.end()
    }
}
