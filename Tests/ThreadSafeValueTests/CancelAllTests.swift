//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("Cancelling all pending commands")
struct CancelAllTests {
    @Test func `Threads, tasks and queues all answer, and nothing runs`() async throws {
        let value = QueueSafeValue(value: 0)
        let blocker = Blocker(value)
        let answers = Log<Answer>()
        let group = DispatchGroup()
        let queue = DispatchQueue(label: "target")
        for priority in CommandPriority.allCases {
            for _ in 0..<4 { group.enter() }
            value.async(performIn: .utility).priority(priority).set {
                $0 += 1
            } completion: { result in
                answers.add(result)
                group.leave()
            }
            value.async(performIn: queue).priority(priority).get { result in
                dispatchPrecondition(condition: .onQueue(queue))
                answers.add(result)
                group.leave()
            }
            OwnThreads.run {
                answers.add(await value.async.priority(priority).set { $0 += 1 })
                group.leave()
            }
            _ = RunningThread {
                answers.add(value.wait.priority(priority).set { $0 += 1 })
                group.leave()
            }
        }
        let cancelled = try await onThreadOfItsOwn {
            try value.waitForPending(20)
            let cancelled = value.cancelAllPendingCommands()
            try inTime { group.wait() }
            return cancelled
        }
        #expect(cancelled == 20)
        #expect(value.pendingCommandCount == 0)
        #expect(answers.entries == Array(repeating: .failure(.cancelled), count: 20))
        #expect(value.cancelAllPendingCommands() == 0)
        blocker.end()
        #expect(await value.async.lowestPriority.get() == .success(0))
    }

    @Test func `Of one priority, and the others go on in their order`() throws {
        let order = try inTime {
            let value = QueueSafeValue(value: 0)
            let blocker = Blocker(value)
            let order = Log<String>()
            let queue = DispatchQueue(label: "target")
            let group = DispatchGroup()
            for priority in [CommandPriority.low, .high, .medium] {
                group.enter()
                value.async(performIn: queue).priority(priority).get { result in
                    order.add("\(priority) \(result)")
                    group.leave()
                }
                group.enter()
                _ = RunningThread {
                    order.add("thread \(priority) \(value.wait.priority(priority).get())")
                    group.leave()
                }
            }
            try value.waitForPending(6)
            let count = value.cancelAllPendingCommands(.high)
            order.add("cancelled \(count)")
            blocker.end()
            group.wait()
            return order.entries
        }
        #expect(order.contains("cancelled 2"))
        #expect(order.contains { $0.hasPrefix("high failure") })
        #expect(order.contains { $0.hasPrefix("thread high failure") })
        #expect(order.filter { $0.hasSuffix("success(0)") }.count == 4)
    }

    @Test("A thread whose command was cancelled waits again as if nothing had been")
    func again() throws {
        let (cancelled, sum) = try inTime {
            let value = QueueSafeValue(value: 0)
            let isOver = Protected(false)
            let canceller = RunningThread {
                while !isOver.wrappedValue { value.cancelAllPendingCommands() }
            }
            let cancelled = Protected(0)
            onThreads(3) { _ in
                for _ in 0..<2_000 {
                    let answer = value.wait.lowestPriority.set { $0 += 1 }
                    switch answer {
                    case .success: break
                    case .failure(.cancelled): cancelled.write { $0 += 1 }
                    case .failure(let error): Issue.record("\(error)")
                    }
                }
            }
            isOver.write(true)
            canceller.join()
            return (cancelled.wrappedValue, value.wait.lowestPriority.get())
        }
        #expect(sum == .success(6_000 - cancelled))
    }
}
