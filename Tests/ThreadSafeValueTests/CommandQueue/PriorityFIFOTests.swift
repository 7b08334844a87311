//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("PriorityFIFO")
struct PriorityFIFOTests {
    private static func command(_ priority: CommandPriority) -> PendingCommand {
        let command = PendingCommand(of: Parker())
        command.reuse(for: priority)
        return command
    }

    @Test("It is empty at first")
    func empty() {
        let fifo = PriorityFIFO()
        #expect(fifo.isEmpty)
        #expect(fifo.count == 0)
        #expect(fifo.first == nil)
    }

    @Test("The first is the highest, and among equals the one that was appended first")
    func order() {
        var fifo = PriorityFIFO()
        let commands = [CommandPriority.lowest, .highest, .lowest, .highest].map(Self.command)
        for command in commands { fifo.append(command) }
        for index in [1, 3, 0, 2] {
            #expect(fifo.first === commands[index])
            fifo.remove(commands[index])
        }
        #expect(fifo.isEmpty)
    }

    @Test("A command that left may be appended again, and is the last then")
    func again() {
        var fifo = PriorityFIFO()
        let commands = (0..<3).map { _ in Self.command(.lowest) }
        for command in commands { fifo.append(command) }
        fifo.remove(commands[0])
        fifo.append(commands[0])
        for index in [1, 2, 0] {
            #expect(fifo.first === commands[index])
            fifo.remove(commands[index])
        }
        #expect(fifo.isEmpty)
    }

    @Test("It lets go of the commands that left")
    func letsGo() {
        var fifo = PriorityFIFO()
        weak var gone: PendingCommand?
        do {
            let command = Self.command(.highest)
            gone = command
            for _ in 0..<2 { fifo.append(Self.command(.highest)) }
            fifo.append(command)
            fifo.append(Self.command(.highest))
            fifo.remove(command)
        }
        #expect(gone == nil)
        #expect(fifo.count == 3)
        while let first = fifo.first { fifo.remove(first) }
    }

    @Test("Random programs end as in a naive model, also those that take commands from the middle")
    func random() {
        var random = SeededRandom()
        for _ in 0..<200 {
            var fifo = PriorityFIFO()
            var model: [PendingCommand] = []
            for _ in 0..<200 {
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<6:
                    let command = Self.command(CommandPriority.allCases.randomElement(using: &random)!)
                    fifo.append(command)
                    let place = model.firstIndex { $0.priority < command.priority } ?? model.endIndex
                    model.insert(command, at: place)
                case 6..<8 where !model.isEmpty:
                    fifo.remove(model.removeFirst())
                case 8..<10 where !model.isEmpty:
                    fifo.remove(model.remove(at: .random(in: model.indices, using: &random)))
                default: break
                }
                guard fifo.first === model.first, fifo.count == model.count, fifo.isEmpty == model.isEmpty else {
                    Issue.record("Another first than in the model, of \(model.count)")
                    return
                }
            }
            while let first = fifo.first {
                #expect(first === model.removeFirst())
                fifo.remove(first)
            }
            #expect(model.isEmpty)
        }
    }
}
