//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

@Suite("Nothing leaks")
struct NothingLeaksTests {
    @Test("Values and what commands capture are gone after thousands of commands of all kinds")
    func nothingLeaks() throws {
        let values = Counted.Tally()
        let captured = Counted.Tally()
        try inTime {
            do {
                let value = QueueSafeValue(value: Counted(tally: values))
                let queues = (0..<3).map { DispatchQueue(label: "\($0)") }
                let group = DispatchGroup()
                onThreads(4) { index in
                    for round in 0..<200 {
                        let object = Counted(tally: captured)
                        let schedule = value.async(performIn: queues[round % 3])
                        let commands = round % 2 == 0 ? schedule.lowestPriority : schedule.highestPriority
                        value.wait.lowestPriority.set { $0 = Counted($0.id + object.id, tally: values) }
                        value.wait.highestPriority.set { _, done in withExtendedLifetime(object) { done() } }
                        value.wait.lowestPriority.set { _, _ in withExtendedLifetime(object) {} }
                        group.enter()
                        commands.set {
                            $0 = Counted($0.id + object.id, tally: values)
                        } completion: { _ in
                            withExtendedLifetime(object) { group.leave() }
                        }
                        group.enter()
                        commands.set { counted, done in
                            counted = Counted(1, tally: values)
                            if round % 5 != 0 { queues[index % 3].async { withExtendedLifetime(object) { done() } } }
                        } completion: { _ in
                            withExtendedLifetime(object) { group.leave() }
                        }
                    }
                }
                group.wait()
            }
            try poll("all are gone") { values.alive == 0 && captured.alive == 0 }
        }
        #expect(values.alive == 0)
        #expect(captured.alive == 0)
    }

    @Test("The value goes when the last accepted command has run, not before")
    func goesAfterLastCommand() throws {
        let tally = Counted.Tally()
        let alive = try inTime {
            let log = Log<Int>()
            let queue = DispatchQueue(label: "target")
            queue.suspend()
            do {
                let value = QueueSafeValue(value: Counted(tally: tally))
                for _ in 0..<3 { value.async(performIn: queue).lowestPriority.get { _ in log.add(tally.alive) } }
            }
            log.add(tally.alive)
            queue.resume()
            try poll("the value is gone") { tally.alive == 0 }
            return log.entries
        }
        #expect(alive == [1, 1, 1, 1])
    }

    @Test("The value goes at once with its container when no command is pending")
    func goesAtOnce() {
        let tally = Counted.Tally()
        do {
            let value = QueueSafeValue(value: Counted(tally: tally))
            value.wait.lowestPriority.set { $0 = Counted(1, tally: tally) }
            #expect(tally.alive == 1)
        }
        #expect(tally.alive == 0)
    }

    @Test("A timer that runs doesn't keep the value")
    func timer() throws {
        let tally = Counted.Tally()
        try inTime {
            do {
                // The timer is set: a thread waits behind a queue that does not start.
                let value = QueueSafeValue(value: Counted(tally: tally))
                let queue = DispatchQueue(label: "target")
                queue.suspend()
                value.async(performIn: queue).lowestPriority.get { _ in }
                value.wait.lowestPriority.get { _ in }
                queue.resume()
            }
            try poll("the value is gone") { tally.alive == 0 }
        }
        #expect(tally.alive == 0)
    }

    @Test("A target queue is let go when its commands have run, while the value lives")
    func queuesAreLetGo() throws {
        try inTime {
            let value = QueueSafeValue(value: 0)
            let references = Log<WeakQueue>()
            for _ in 0..<20 {
                let queue = DispatchQueue(label: "short-lived")
                references.add(WeakQueue(queue: queue))
                value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                value.async(performIn: queue).highestPriority.set {
                    $0 += 1; $1()
                }
            }
            try poll("the queues are gone") { references.entries.allSatisfy { $0.queue == nil } }
            #expect(value.pendingCommandCount() == 0)
        }
    }

    // Unoptimized code allocates for reasons of its own, and sanitizers need memory themselves.
    #if os(Linux) && canImport(Glibc) && !DEBUG
    @Test(
        "A waiting command that nobody contends with allocates nothing: it runs when there is no memory",
        .enabled(if: !isSanitized)
    )
    func allocatesNothing() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let value = QueueSafeValue(value: 1)
            let synced = QueueSafeSyncedValue(value: 1)
            var sum = runUncontended(value, synced)
            useUpMemory()
            sum += runUncontended(value, synced)
            _exit(sum > 0 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test("Without memory, what does allocate doesn't run")
    func allocatesSomething() async {
        await #expect(processExitsWith: .failure) {
            giveUp(afterSeconds: 120)
            useUpMemory()
            let value = QueueSafeValue(value: Counted(tally: Counted.Tally()))
            _exit(value.wait.lowestPriority.map { $0.id } == .success(0) ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }
    #endif

    #if os(Linux) && canImport(Glibc)
    @Test("A hundred thousand waits for a condition keep no memory once they are over")
    func conditions() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 300)
            let value = QueueSafeValue(value: 0)
            let before = try residentBytes()
            try inTime {
                for _ in 0..<(isSanitized ? 2_000 : 100_000) {
                    value.wait(timeout: .seconds(0)).lowestPriority.set(when: { $0 > 0 }) { $0 = 0 }
                }
            }
            let after = try residentBytes() - before
            if !isSanitized { #expect(after < 2 << 20, "\(after) bytes remain") }
        }
    }

    @Test("A wait for a command that is in time for nothing leaves nothing with the command")
    func waitsForCommand() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 300)
            let value = QueueSafeValue(value: 0)
            let blocker = Blocker(value)
            let handle = value.async(performIn: DispatchQueue(label: "target")).lowestPriority.set { $0 += 1 }
            let after = try inTime {
                for _ in 0..<1_000 { handle.wait(timeout: .seconds(0)) }
                let before = try residentBytes()
                for _ in 0..<(isSanitized ? 2_000 : 50_000) { handle.wait(timeout: .seconds(0)) }
                return try residentBytes() - before
            }
            if !isSanitized { #expect(after < 2 << 20, "\(after) bytes remain") }
            blocker.end()
        }
    }

    @Test("What was cancelled takes no memory, though a command before it waits")
    func cancelled() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 300)
            let value = QueueSafeValue(value: 0)
            let commands = value.async(performIn: DispatchQueue(label: "target")).lowestPriority
            let blocker = Blocker(value)
            commands.set { $0 += 1 }
            for _ in 0..<1_000 { commands.set { $0 += 1 }.cancel() }
            let before = try residentBytes()
            for _ in 0..<(isSanitized ? 2_000 : 200_000) { commands.set { $0 += 1 }.cancel() }
            let after = try residentBytes() - before
            if !isSanitized { #expect(after < 2 << 20, "\(after) bytes remain") }
            blocker.end()
        }
    }

    @Test("A million pending commands take at most 160 bytes each, all run, and the memory is given back")
    func million() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 300)
            let count = isSanitized ? 100_000 : 1_000_000
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            // What the first command sets up, for all, is not counted.
            value.async(performIn: queue).lowestPriority.set { $0 += 1 }
            queue.sync {}
            let before = try residentBytes()
            let blocker = Blocker(value)
            for _ in 1..<count { value.async(performIn: queue).lowestPriority.set { $0 += 1 } }
            let pending = try residentBytes() - before
            let end = Door()
            value.async(performIn: queue).lowestPriority.get { number in
                #expect(number == .success(count))
                end.open()
            }
            blocker.end()
            end.waitUntilOpen()
            queue.sync {}
            FileHandle.standardError.write(Data("\(count) commands, \(pending / count) bytes each".utf8))
            if !isSanitized {
                #expect(pending <= 160 * count, "\(pending / count) bytes each")
                // The allocator keeps some of it until it is used again.
                try poll("the memory is given back") { try residentBytes() - before < 8 << 20 }
            }
        }
        print("pending:", result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? "no answer")
    }
    #endif
}

/// Every form of waiting command that needs nobody else, a hundred times.
private func runUncontended(_ value: QueueSafeValue<Int>, _ synced: QueueSafeSyncedValue<Int>) -> Int {
    var sum = 0
    for _ in 0..<100 {
        value.wait.lowestPriority.set { $0 += 1 }
        value.wait.highestPriority.set(newValue: 2)
        value.wait.lowestPriority.get { sum += (try? $0.get()) ?? 0 }
        if case .success(let number) = value.wait.highestPriority.get() { sum += number }
        if case .success(let number) = value.wait.lowestPriority.map(completion: { $0 + 1 }) { sum += number }
        synced.lowestPriority.set { $0 += 1 }
        if case .success(let number) = synced.highestPriority.get() { sum += number }
    }
    return sum
}

private struct WeakQueue: @unchecked Sendable {
    weak var queue: DispatchQueue?
}
