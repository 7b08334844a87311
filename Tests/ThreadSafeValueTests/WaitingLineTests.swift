//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("WaitingLine")
struct WaitingLineTests {
    @Test("A line is served highest first, in order of arrival among equals, with 100,000 commands as with 10")
    func order() {
        var random = SeededRandom()
        for count in [10, 100_000] {
            var line = WaitingLine(patience: .unbounded)
            let queues = (0..<4).map { DispatchQueue(label: "\($0)") }
            var commands: [PendingCommand] = []
            for _ in 0..<count {
                let priority = CommandPriority.allCases.randomElement(using: &random)!
                let place = Int.random(in: 0...queues.count, using: &random)
                let command =
                    place < queues.count
                    ? PendingCommand(priority, in: line.laneFor(queues[place]))
                    : PendingCommand(priority, of: Parker())
                line.append(command)
                commands.append(command)
            }
            let expected = CommandPriority.allCases.reversed().flatMap { level in
                commands.filter { $0.priority == level }
            }
            var mismatches = 0
            for command in expected {
                if line.best !== command { mismatches += 1 }
                line.remove(command)
            }
            #expect(mismatches == 0)
            #expect(line.best == nil)
        }
    }

    @Test(
        "Random arrivals, wakings, passings and releases: the turn goes to the naive model's best, and nobody is forgotten"
    )
    func random() throws {
        var random = SeededRandom()
        for _ in 0..<300 {
            var simulation = Simulation(patience: .unbounded)
            for _ in 0..<200 { try simulation.step(&random) }
            try simulation.drain(&random)
        }
    }

    @Test("Target queues that never start stop nobody else, and are served when they do")
    func late() throws {
        var random = SeededRandom()
        for _ in 0..<100 {
            var patience = Patience.unbounded
            patience.keeping = 0
            var simulation = Simulation(patience: patience, lanesStandStill: true)
            for _ in 0..<100 { try simulation.step(&random) }
            try simulation.drain(&random)
            #expect(simulation.served > 0)
        }
    }

    @Test("A lane whose queue is late goes on to the next only if something else waits")
    func nothingElse() {
        var patience = Patience()
        patience.keeping = 0
        var line = WaitingLine(patience: patience)
        let lane = line.laneFor(DispatchQueue(label: "late"))
        let command = PendingCommand(.lowest, in: lane)
        line.append(command)
        var errands = WaitingLine.Errands()
        _ = line.settle(turnIsFree: true, &errands)
        #expect(errands.send === lane)
        #expect(errands.timer == nil)
        // The block is sent.
        errands = WaitingLine.Errands()
        _ = line.settle(turnIsFree: true, &errands)
        #expect(line.best === command)
        let parker = Parker()
        let thread = PendingCommand(.lowest, of: parker)
        line.append(thread)
        _ = line.settle(turnIsFree: true, &errands)
        #expect(line.best === thread)
        #expect(errands.wake === parker)
        line.arrived(lane)
        #expect(line.best === command)
        line.remove(command)
        line.remove(thread)
    }
}

/// A line, threads and queues that come when it pleases chance, and a naive model of who is next.
private struct Simulation {
    struct Broken: Error {
        let rule: String
    }

    var line: WaitingLine
    let lanesStandStill: Bool
    var waiting: [PendingCommand] = []
    var turnIsFree = true
    var served = 0

    // Who is on the way: parkers that were woken, lanes whose block is out.
    private var woken: [Parker] = []
    private var sent: [Lane] = []
    private let queues = (0..<3).map { DispatchQueue(label: "\($0)") }

    init(patience: Patience, lanesStandStill: Bool = false) {
        line = WaitingLine(patience: patience)
        self.lanesStandStill = lanesStandStill
    }

    /// The highest of those in line that came first; lanes that are late have no place.
    private var best: PendingCommand? {
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
        case 8: try newcomer(&random)
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
        guard line.best == nil else { throw Broken(rule: "an empty line has no best") }
    }

    private mutating func moveOn(
        _ random: inout SeededRandom,
        _ arrive: (inout Self, inout SeededRandom) throws -> Void
    ) throws {
        try release()
        let isStuck = woken.isEmpty && (sent.isEmpty || lanesStandStill && waiting.contains(where: \.isThread))
        if turnIsFree, isStuck, !waiting.isEmpty { throw Broken(rule: "somebody is on the way to a free turn") }
        try arrive(&self, &random)
    }

    private mutating func append(_ random: inout SeededRandom) throws {
        let priority = CommandPriority.allCases.randomElement(using: &random)!
        let index = Int.random(in: 0...queues.count, using: &random)
        let command =
            index < queues.count
            ? PendingCommand(priority, in: line.laneFor(queues[index])) : PendingCommand(priority, of: Parker())
        line.append(command)
        waiting.append(command)
        try settle()
    }

    private mutating func threadArrives(_ random: inout SeededRandom) throws {
        guard !woken.isEmpty else { return }
        let parker = woken.remove(at: .random(in: woken.indices, using: &random))
        // A thread that was woken once too often is gone, or looks again.
        guard let command = waiting.first(where: { $0.isThread(at: parker) }) else { return }
        line.arrived(command)
        if turnIsFree, line.best === command { try take(command) }
        try settle()
    }

    private mutating func laneArrives(_ random: inout SeededRandom) throws {
        guard !sent.isEmpty else { return }
        let lane = sent.remove(at: .random(in: sent.indices, using: &random))
        line.arrived(lane)
        if turnIsFree, let command = line.best, unsafe command.lane === lane {
            try take(command)
        }
        try settle()
    }

    /// A newcomer takes the free turn without the line's knowledge.
    private mutating func newcomer(_ random: inout SeededRandom) throws {
        if Bool.random(using: &random) { turnIsFree = false }
    }

    private mutating func release() throws {
        guard !turnIsFree else { return }
        turnIsFree = true
        // With somebody on the way, or nobody waiting, a release leaves the line alone.
        if line.promised == nil, line.best != nil { try settle() }
    }

    private mutating func take(_ command: PendingCommand) throws {
        guard command === best else { throw Broken(rule: "the turn goes to the best") }
        line.remove(command)
        waiting.removeAll { $0 === command }
        turnIsFree = false
        served += 1
    }

    private mutating func settle(again: Int = 0) throws {
        var errands = WaitingLine.Errands()
        _ = line.settle(turnIsFree: turnIsFree, &errands)
        if let parker = errands.wake { woken.append(parker) }
        if let lane = errands.send { sent.append(lane) }
        if errands.timer != nil {
            line.timerFired()
            // Each time another lane is late.
            guard again <= queues.count else { throw Broken(rule: "a lane that is late loses its promise") }
            if lanesStandStill { return try settle(again: again + 1) }
        }
        guard line.best === best else { throw Broken(rule: "the best is the highest that came first") }
        if turnIsFree, line.best != nil, line.promised == nil { throw Broken(rule: "a free turn is promised") }
        switch line.promised {
        case .thread(let command):
            guard woken.contains(where: { command.isThread(at: $0) }) else {
                throw Broken(rule: "who is promised the turn was woken")
            }
        case .lane(let lane):
            guard sent.contains(where: { $0 === lane }) else { throw Broken(rule: "a promised lane has a block out") }
        case nil: break
        }
    }
}

extension PendingCommand {
    /// A command for a target queue that is never run.
    fileprivate convenience init(_ priority: CommandPriority, in lane: Lane) {
        unsafe self.init(priority, in: lane, endsRun: true) { _ in .changed }
    }

    fileprivate var isThread: Bool { unsafe lane == nil }

    fileprivate func isThread(at other: Parker) -> Bool { parker === other }
}

extension WaitingLine {
    /// The lane for a target queue, as a submitted command finds it.
    fileprivate mutating func laneFor(_ target: DispatchQueue) -> Lane {
        lane(for: target) ?? add(Lane(target: target))
    }
}
