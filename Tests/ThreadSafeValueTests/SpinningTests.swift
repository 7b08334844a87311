//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

/// With as many pauses as here, a thread that spins uses up hundreds of milliseconds of its processor before it parks.
@Suite("A thread spins for a turn only if a running thread has it")
struct SpinningTests {
    private static func makeValue() -> QueueSafeValue<Int> {
        var policy = HandoffPolicy()
        policy.spins = 20_000_000
        return QueueSafeValue(value: 0, policy: policy)
    }

    @Test("Not while a manual command waits for its `done`")
    func detached() throws {
        let used = try inTime {
            let value = Self.makeValue()
            let blocker = Blocker(value)
            let used = Log<UInt64>()
            let thread = RunningThread { used.add(Self.processorTimeOfWait(value)) }
            try value.waitForPending(1)
            blocker.end()
            thread.join()
            return used.entries[0]
        }
        #expect(used < 100_000_000)
    }

    @Test("Not while an async body has it")
    func asyncBody() async throws {
        let used = try await onThreadOfItsOwn {
            try inTime {
                let value = Self.makeValue()
                let begun = Door()
                OwnThreads.run {
                    await value.async.lowestPriority.set { number in
                        begun.open()
                        while value.pendingCommandCount == 0 { await Task.yield() }
                        number += 1
                    }
                }
                begun.waitUntilOpen()
                return Self.processorTimeOfWait(value)
            }
        }
        #expect(used < 100_000_000)
    }

    private static func processorTimeOfWait(_ value: QueueSafeValue<Int>) -> UInt64 {
        let begin = processorNanoseconds()
        value.wait.lowestPriority.set { $0 += 1 }
        return processorNanoseconds() - begin
    }
}
