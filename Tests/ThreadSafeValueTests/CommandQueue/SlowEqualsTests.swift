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

        mutating func append(_ priority: CommandPriority = .medium, isSlow: Bool = true, by thread: UInt32? = nil) {
            // Each of a thread of its own, if none is named.
            let submitter = (thread ?? UInt32(commands.count + 100)).submitter
            let command = waiters.append(priority, for: DispatchQueue(label: "\(commands.count)"), by: submitter)
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

    @Test("So it does with the next command of the same thread")
    func passesAgain() {
        var line = Line()
        line.append(by: 1)
        line.append(by: 2)
        line.waitsForFront()
        let queue = DispatchQueue(label: "second")
        let commands = (0..<2).map { _ in line.waiters.append(.medium, for: queue, by: UInt32(3).submitter) }
        line.commands.append(commands[0])
        line.choose()
        line.letBlocksBeLate()
        #expect(line.next(forBlockOf: 2) === commands[0])
        line.waiters.remove(commands[0])
        line.commands[2] = commands[1]
        let third = line.waiters.append(.medium, for: queue, by: UInt32(3).submitter)
        #expect(line.next(forBlockOf: 2) === commands[1])
        line.waiters.remove(third)
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
        line.append(obstacle == .theFrontIsMoreUrgent ? .high : .medium, by: 1)
        if obstacle == .itsOwnSubmitterHasTheThird || obstacle == .theThirdIsInTime { line.append(by: 2) }
        let thread = PendingCommand(of: Parker())
        thread.reuse(for: .medium)
        if obstacle == .aThreadIsBefore { line.waiters.append(thread) }
        let submitter: UInt32 =
            switch obstacle {
            case .itsOwnSubmitterHasTheFront: 1
            case .itsOwnSubmitterHasTheThird: 2
            default: 3
            }
        line.append(by: submitter)
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

    @Test("Who has a command in a queue is an obstacle, wherever that stands among those of others", arguments: [1, 2])
    func severalSubmitters(submitter: UInt32) {
        var line = Line()
        let queue = DispatchQueue(label: "front")
        let fronts = [UInt32(1), 2].map { line.waiters.append(.medium, for: queue, by: $0.submitter) }
        fronts[0].lane!.dispatch(at: now())
        line.append(by: submitter)
        line.letBlocksBeLate()
        #expect(line.next(forBlockOf: 0) == nil)
        for front in fronts { line.waiters.remove(front) }
        line.end()
    }

    enum Innocent: CaseIterable, Sendable {
        case isOver, isLessUrgent, cameLater
    }

    @Test("Its own command in a queue is no obstacle if it needs not be before it", arguments: Innocent.allCases)
    func innocent(innocent: Innocent) {
        var line = Line()
        let queue = DispatchQueue(label: "front")
        let own = UInt32(1).submitter
        var fronts = [line.waiters.append(.medium, for: queue, by: UInt32(2).submitter)]
        fronts[0].lane!.dispatch(at: now())
        if innocent != .cameLater {
            fronts.append(line.waiters.append(innocent == .isLessUrgent ? .low : .medium, for: queue, by: own))
        }
        if innocent == .isOver { line.waiters.remove(fronts.removeLast()) }
        line.append(by: 1)
        if innocent == .cameLater { fronts.append(line.waiters.append(.medium, for: queue, by: own)) }
        line.letBlocksBeLate()
        #expect(line.next(forBlockOf: 0) === line.commands[0])
        for front in fronts { line.waiters.remove(front) }
        line.end()
    }

    @Test("A task is an obstacle to itself on any thread, and none to other tasks", arguments: [false, true])
    func tasks(isSame: Bool) {
        var line = Line()
        let front = line.waiters.append(.medium, for: DispatchQueue(label: "front"), by: 1 << 16 | 7)
        front.lane!.dispatch(at: now())
        let command = line.waiters.append(
            .medium,
            for: DispatchQueue(label: "other"),
            by: 2 << 16 | (isSame ? 7 : 8)
        )
        line.commands.append(command)
        line.letBlocksBeLate()
        #expect((line.next(forBlockOf: 0) === command) == !isSame)
        line.waiters.remove(front)
        line.end()
    }

    @Test("It looks at no more commands than the policy says", arguments: [0, 1])
    func manyCommands(more: Int) {
        let count = HandoffPolicy().passing
        var line = Line()
        let queue = DispatchQueue(label: "front")
        let fronts = (0..<count + more).map { _ in line.waiters.append(.medium, for: queue, by: UInt32(1).submitter) }
        fronts[0].lane!.dispatch(at: now())
        line.append(by: 2)
        line.letBlocksBeLate()
        #expect((line.next(forBlockOf: 0) === line.commands[0]) == (more == 0))
        for front in fronts { line.waiters.remove(front) }
        line.end()
    }
}

extension UInt32 {
    /// Who submits, given the number of a thread: see `Submitter`.
    fileprivate var submitter: UInt32 { self << 16 }
}
