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
