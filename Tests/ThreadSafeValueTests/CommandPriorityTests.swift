//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("CommandPriority")
struct CommandPriorityTests {
    @Test func `Five levels are in order`() {
        #expect(CommandPriority.allCases == [.lowest, .low, .medium, .high, .highest])
        #expect(CommandPriority.allCases == CommandPriority.allCases.sorted())
    }

    @Test func `Commands of five levels that wait for one queue run highest first`() {
        let value = QueueSafeValue(value: [CommandPriority]())
        let queue = DispatchQueue(label: "five levels")
        let finished = DispatchSemaphore(value: 0)
        // The turn is held until all commands are in line.
        value.wait.mediumPriority.set { _, done in
            let commands = value.async(performIn: queue)
            commands.lowPriority.set { $0.append(.low) }
            commands.highPriority.set { $0.append(.high) }
            commands.lowestPriority.set { $0.append(.lowest) }
            commands.mediumPriority.set { $0.append(.medium) }
            commands.highestPriority.set { $0.append(.highest) }
            commands.priority(.lowest).get { _ in finished.signal() }
            done()
        }
        finished.wait()
        #expect(value.wait.priority(.medium).get() == .success(CommandPriority.allCases.reversed()))
    }

    @Test func `Values of one schedule have every level`() {
        let synced = QueueSafeSyncedValue(value: 0)
        synced.lowPriority.set { $0 += 1 }
        synced.mediumPriority.set { $0 += 1 }
        synced.highPriority.set { $0 += 1 }
        #expect(synced.priority(.highest).get() == .success(3))

        let asynced = QueueSafeAsyncedValue(value: 0, queue: .global())
        let finished = DispatchSemaphore(value: 0)
        asynced.highPriority.set { $0 += 1 }
        asynced.priority(.lowest).get { result in
            #expect(result == .success(1))
            finished.signal()
        }
        finished.wait()
    }
}

@Suite("The limit of overtaking")
struct OvertakingLimitTests {
    /// Submits commands of the given priorities while the turn is taken, and returns the order in which they ran.
    private func order(_ priorities: [CommandPriority], limit: Int?, queues: Int = 1) -> [Int] {
        // No queue that is late loses its place.
        var patience = Patience()
        patience.keeping = 60_000_000_000
        patience.overtakings = limit.map(UInt32.init)
        let value = QueueSafeValue(value: [Int](), patience: patience)
        let targets = (0..<queues).map { DispatchQueue(label: "overtaking \($0)") }
        let finished = DispatchGroup()
        value.suspend()
        for (number, priority) in priorities.enumerated() {
            finished.enter()
            value.async(performIn: targets[number % queues]).priority(priority).set {
                $0.append(number)
            } completion: { _ in
                finished.leave()
            }
        }
        value.resume()
        finished.wait()
        return (try? value.wait.lowestPriority.get().get()) ?? []
    }

    @Test(arguments: [1, 3])
    func `A command that was overtaken often enough goes next`(queues: Int) {
        let priorities: [CommandPriority] = [.lowest, .highest, .highest, .highest, .highest, .highest]
        #expect(order(priorities, limit: 3, queues: queues) == [1, 2, 3, 0, 4, 5])
        #expect(order(priorities, limit: 1, queues: queues) == [1, 0, 2, 3, 4, 5])
        #expect(order(priorities, limit: 0, queues: queues) == [0, 1, 2, 3, 4, 5])
    }

    @Test func `Those that were there before do not overtake`() {
        #expect(order([.high, .high, .high, .lowest, .high, .high], limit: 2) == [0, 1, 2, 4, 5, 3])
        #expect(order([.high, .high, .high, .lowest, .high, .high], limit: 1) == [0, 1, 2, 4, 3, 5])
    }

    @Test func `Without a limit priority alone decides`() {
        let priorities: [CommandPriority] = [.lowest, .highest, .highest, .highest, .highest, .highest]
        #expect(order(priorities, limit: nil) == [1, 2, 3, 4, 5, 0])
    }

    @Test func `Threads count as well`() throws {
        let value = QueueSafeValue(value: [Int](), overtakingLimit: 2)
        value.suspend()
        var threads: [RunningThread] = []
        for number in 0..<5 {
            threads.append(
                RunningThread { value.wait.priority(number == 0 ? .lowest : .highest).set { $0.append(number) } }
            )
            try poll("one after the other in line") { value.pendingCommandCount == number + 1 }
        }
        value.resume()
        for thread in threads { thread.join() }
        #expect(value.wait.lowestPriority.get() == .success([1, 2, 0, 3, 4]))
    }
}
