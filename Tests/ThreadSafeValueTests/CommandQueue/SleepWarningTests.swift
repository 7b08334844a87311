//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

#if DEBUG
/// What a debug build writes when a thread sleeps that others need.
@Suite("Warnings of a thread that sleeps")
struct SleepWarningTests {
    @Test("A thread of a task that sleeps is told of once, also if another thread slept before")
    func threadOfTask() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let value = QueueSafeValue(value: 0)
            let holding = HoldingThread(value)
            value.wait(timeout: .milliseconds(20)).lowestPriority.set { $0 += 1 }
            let sleeping = RunningThread { value.wait.lowestPriority.set { $0 += 1 } }
            try value.waitForPending(1)
            for _ in 0..<2 {
                await Task { _ = value.wait(timeout: .milliseconds(20)).lowestPriority.get() }.value
            }
            holding.end()
            sleeping.join()
        }
        let lines = result.crashMessage.split(separator: "\n")
        let warning = "a wait lets a thread sleep, which tasks may need. Use await value.async"
        #expect(lines.count { $0.contains(warning) } == 1)
    }

    @Test("The main thread that sleeps while an async closure has the turn is told of")
    func mainThread() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let (value, begun, end) = (QueueSafeValue(value: 0), Gate(), Gate())
            let closure = Task {
                await value.async.lowestPriority.set { _ in
                    begun.open()
                    await end.pass()
                }
            }
            await begun.pass()
            await withCheckedContinuation { continuation in
                DispatchQueue.main.async {
                    _ = value.wait(timeout: .milliseconds(20)).lowestPriority.get()
                    continuation.resume()
                }
            }
            end.open()
            _ = await closure.value
        }
        #expect(result.crashMessage.contains("a wait lets the main thread sleep, which an async closure may need."))
    }
}
#endif
