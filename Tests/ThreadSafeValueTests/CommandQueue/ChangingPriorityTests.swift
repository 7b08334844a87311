//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

/// How a pending command becomes more or less urgent.
@Suite("CommandHandle: changePriority")
struct ChangingPriorityTests {
    private let queue = DispatchQueue(label: "ChangingPriorityTests")

    /// The order in which commands ran that were submitted while the value was suspended, and changed then. A queue that
    /// is late may change the order: that of the first round which was too quick for that, if there is one.
    private func order(
        of priorities: [CommandPriority],
        on queues: [DispatchQueue],
        _ change: ([CommandHandle<Void>]) -> Void
    ) async -> [Int]? {
        for _ in 0..<50 {
            let value = QueueSafeValue(value: [Int]())
            value.suspend()
            let handles = priorities.enumerated().map { index, priority in
                value.async(performIn: queues[index % queues.count]).priority(priority).set { $0.append(index) }
            }
            change(handles)
            let begin = nanoseconds()
            value.resume()
            for handle in handles { _ = await handle.value }
            let isJudged = queues.count == 1 || nanoseconds() - begin < timeUntilLate
            if isJudged { return try? await value.async.lowestPriority.get().get() }
        }
        return nil
    }

    @Test("A command that is raised keeps its arrival, so it comes before later ones of its new priority")
    func raised() async {
        let queues = [queue, DispatchQueue(label: "other")]
        for queues in [[queue], queues] {
            let order = await order(of: [.lowest, .lowest, .high, .high, .highest], on: queues) {
                #expect($0[1].changePriority(to: .high))
            }
            #expect(order == [4, 1, 2, 3, 0] || order == nil && queues.count > 1)
        }
    }

    @Test("A command that is lowered comes behind earlier ones of its new priority, and before later ones")
    func lowered() async {
        let order = await order(of: [.lowest, .high, .lowest, .high], on: [queue]) {
            #expect($0[1].changePriority(to: .lowest))
            #expect($0[3].changePriority(to: .high))
        }
        #expect(order == [3, 0, 1, 2])
    }

    @Test("After a burst of changes, commands run by their last priorities and their arrivals")
    func burst() async {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededRandom(seed: seed)
        let submitted = (0..<100).map { _ in CommandPriority.allCases.randomElement(using: &random)! }
        let changes = (0..<300).map { _ in
            (index: Int.random(in: 0..<100, using: &random), CommandPriority.allCases.randomElement(using: &random)!)
        }
        var last = submitted
        for (index, priority) in changes { last[index] = priority }
        let order = await order(of: submitted, on: [queue]) { handles in
            for (index, priority) in changes { #expect(handles[index].changePriority(to: priority)) }
        }
        #expect(order == last.indices.sorted { (last[$1], $0) < (last[$0], $1) }, "seed \(seed)")
    }

    @Test("A block that runs commands of a lower priority goes on with the one that is raised")
    func whileBlockRuns() async {
        let value = QueueSafeValue(value: [Int]())
        let (handles, isSubmitted) = (Log<CommandHandle<Void>>(), Door())
        let commands = value.async(performIn: queue).lowestPriority
        value.suspend()
        handles.add(
            commands.set { numbers in
                isSubmitted.waitUntilOpen()
                #expect(handles.entries[3].changePriority(to: .medium))
                #expect(!handles.entries[0].changePriority(to: .highest))
                numbers.append(0)
            }
        )
        for index in 1...4 { handles.add(commands.set { $0.append(index) }) }
        isSubmitted.open()
        value.resume()
        for handle in handles.entries { _ = await handle.value }
        #expect(await value.async.lowestPriority.get() == .success([0, 3, 1, 2, 4]))
    }

    @Test("A command that is raised beside a block keeps its place when a more urgent one comes")
    func besideMoreUrgent() throws {
        let order = try inTime { [queue] in
            let value = QueueSafeValue(value: [Int]())
            let (hasBegun, mayEnd) = (Door(), Door())
            value.suspend()
            value.async(performIn: queue).lowestPriority.set { _ in
                hasBegun.open()
                mayEnd.waitUntilOpen()
            }
            let handles = [1, 2].map { index in
                value.async(performIn: queue).lowestPriority.set { $0.append(index) }
            }
            value.resume()
            hasBegun.waitUntilOpen()
            // Both are in the batch of the block.
            #expect(handles[1].changePriority(to: .medium))
            value.async(performIn: queue).highPriority.set { $0.append(3) }
            mayEnd.open()
            for handle in handles { handle.wait() }
            return value.wait.lowestPriority.get()
        }
        #expect(order == .success([3, 2, 1]))
    }

    @Test("A command that is over, was cancelled or was refused is not changed")
    func over() async {
        let value = QueueSafeValue(value: 0, pendingCommandLimit: 1)
        let commands = value.async(performIn: queue).lowestPriority
        let finished = commands.set { $0 += 1 }
        _ = await finished.value
        value.suspend()
        let (cancelled, refused) = (commands.set { $0 += 1 }, commands.set { $0 += 1 })
        cancelled.cancel()
        for handle in [finished, cancelled, refused] { #expect(!handle.changePriority(to: .highest)) }
        value.resume()
    }

    @Test("A command is counted and cancelled by its new priority")
    func counted() {
        let value = QueueSafeValue(value: 0)
        value.suspend()
        let handle = value.async(performIn: queue).lowestPriority.set { $0 += 1 }
        handle.changePriority(to: .high)
        #expect(value.pendingCommandCount(.lowest) == 0)
        #expect(value.pendingCommandCount(.high) == 1)
        #expect(value.cancelAllPendingCommands(.high) == 1)
        value.resume()
    }

    @Test("Threads that change, cancel and submit lose no command, and each runs or is cancelled once")
    func fromThreads() throws {
        let seed = UInt64.random(in: 0 ... .max)
        let (sum, cancelled) = try inTime { [queue] in
            let value = QueueSafeValue(value: 0)
            let cancelled = Protected(0)
            onThreads(4) { index in
                var random = SeededRandom(seed: seed &+ UInt64(index))
                for _ in 0..<300 {
                    let commands = value.async(performIn: queue)
                    let handles = (0..<8).map { _ in
                        commands.priority(CommandPriority.allCases.randomElement(using: &random)!).set { $0 += 1 }
                    }
                    for handle in handles.shuffled(using: &random) {
                        handle.changePriority(to: CommandPriority.allCases.randomElement(using: &random)!)
                        if Int.random(in: 0..<8, using: &random) == 0, handle.cancel() { cancelled.wrappedValue += 1 }
                    }
                    for handle in handles { handle.wait() }
                }
            }
            #expect(value.pendingCommandCount() == 0)
            return (value.wait.lowestPriority.get(), cancelled.wrappedValue)
        }
        #expect(sum == .success(4 * 300 * 8 - cancelled), "seed \(seed)")
    }

    @Test func `A pending command changes its priority and keeps its arrival`() {
        let value = QueueSafeValue(value: [Int]())
        value.suspend()
        let priorities: [CommandPriority] = [.lowest, .low, .lowest, .low, .highest]
        let handles = priorities.enumerated().map { index, priority in
            value.async(performIn: queue).priority(priority).set { $0.append(index) }
        }
        #expect(handles[2].changePriority(to: .low))
        #expect(handles[4].changePriority(to: .low))
        #expect(handles[0].changePriority(to: .highest))
        value.resume()
        for handle in handles { _ = handle.wait() }
        #expect(value.wait.lowestPriority.get() == .success([0, 1, 2, 3, 4]))
        #expect(!handles[0].changePriority(to: .low))
    }

    @Test func `A command changes its priority while a block of its queue runs the one before it`() {
        let value = QueueSafeValue(value: [Int]())
        let (hasBegun, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        value.suspend()
        let handles = (0..<5).map { index in
            value.async(performIn: queue).lowestPriority.set {
                if index == 0 {
                    hasBegun.signal()
                    goesOn.wait()
                }
                $0.append(index)
            }
        }
        value.resume()
        hasBegun.wait()
        #expect(handles[3].changePriority(to: .highest))
        #expect(handles[1].cancel())
        goesOn.signal()
        for handle in handles { _ = handle.wait() }
        #expect(value.wait.lowestPriority.get() == .success([0, 3, 2, 4]))
    }
}
