//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import ThreadSafeValue

/// A line, threads and queues that come when it pleases chance, and a naive model of who is next.
struct Simulation {
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
    private var changesUnderTimer = 0
    private let queues = (0..<3).map { DispatchQueue(label: "\($0)") }

    init(policy: HandoffPolicy, lanesStandStill: Bool = false) {
        waiters = WaiterQueue(policy: policy)
        self.lanesStandStill = lanesStandStill
    }

    /// The highest of those in line that came first; lanes that are late have no place.
    private var front: PendingCommand? {
        let inLine = waiting.filter { command in
            command.lane?.isOverdue != true
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
        guard lane.blockIsNeeded(), waiters.arrives(lane) else { return }
        if turnIsFree, let command = waiters.front, command.lane === lane {
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
        waiters.chooseSuccessor(holder: turnIsFree ? 0 : 7, &effects)
        if let parker = effects.wake { woken.append(parker) }
        if let lane = effects.dispatch { dispatched.append(lane) }
        dispatched += effects.probes
        // If no lane is late, it runs for a while.
        if effects.timer != nil { changesUnderTimer = lanesStandStill ? 1 : 3 }
        changesUnderTimer -= 1
        if changesUnderTimer == 0 {
            waiters.timerFired()
            // Each time another lane is late.
            guard again <= queues.count + 1 else { throw Broken(rule: "a lane that is late is not the successor") }
            if lanesStandStill { return try settle(again: again + 1) }
        }
        guard waiters.front === front else { throw Broken(rule: "the front is the highest that came first") }
        if !waiters.hasTrueSuccessor { throw Broken(rule: "the successor is that of the front") }
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
    fileprivate var isThread: Bool { lane == nil }
}

extension WaiterQueue {
    /// A command for a target queue that is never run.
    mutating func append(
        _ priority: CommandPriority,
        for target: DispatchQueue,
        by submitter: UInt32 = 0
    ) -> PendingCommand {
        let command = PendingCommand(priority, by: submitter) { _ in .complete(isChange: false, tell: nil) }
        append(command, for: target)
        return command
    }

    /// A command for a target queue or of a thread, as it pleases chance.
    mutating func append(
        _ priority: CommandPriority,
        in target: DispatchQueue,
        or random: inout SeededRandom
    ) -> PendingCommand {
        if Int.random(in: 0..<4, using: &random) > 0 { return append(priority, for: target) }
        let command = PendingCommand(of: Parker())
        command.reuse(for: priority)
        append(command)
        return command
    }

    /// The latest block of a lane arrives.
    mutating func arrives(_ lane: Lane) -> Bool {
        arrive(lane, block: lane.blockNumber, on: 0)
    }
}
