//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("The rules of the line: a thread that waits on a queue")
struct OwnQueueRuleTests {
    /// A serial queue is known once it was late twice while a thread of it waits. From then on no wait takes as long as a queue
    /// that is late; without the rule each does. On a busy machine many do, and some that wait for the queue do not.
    @Test(
        "Rule 5: a completion that waits, on its queue, and a block that does, do not wait for commands of that queue",
        arguments: [false, true]
    )
    func completionWaits(isBlock: Bool) throws {
        try inTime {
            let queue = DispatchQueue(label: "serial")
            let quickInARow = Protected(0)
            for _ in 0..<1_000 where quickInARow.wrappedValue < 10 {
                let value = QueueSafeValue(value: 0)
                let isLast = Door()
                let wait: @Sendable () -> Void = {
                    let isQuick = isTooQuickToBeLate { #expect(value.wait.lowestPriority.get() == .success(0)) }
                    quickInARow.write { $0 = isQuick ? $0 + 1 : 0 }
                }
                value.suspend()
                if isBlock {
                    queue.async {
                        value.async(performIn: queue).lowestPriority.get { _ in isLast.open() }
                        value.resume()
                        wait()
                    }
                } else {
                    value.async(performIn: queue).lowestPriority.set { _ in
                    } completion: { _ in
                        wait()
                    }
                    value.async(performIn: queue).lowestPriority.get { _ in isLast.open() }
                    value.resume()
                }
                isLast.waitUntilOpen()
            }
            #expect(quickInARow.wrappedValue == 10)
        }
    }

    @Test("Rule 5: who waits on the main queue does not wait for commands of the main queue")
    func mainQueue() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            // Without the rule, each waits until the queue is late.
            let hasQuickOnes = await MainActor.run {
                var quickInARow = 0
                for _ in 0..<1_000 where quickInARow < 10 {
                    let value = QueueSafeValue(value: 0)
                    value.async(performIn: .main).lowestPriority.set { $0 += 1 }
                    let isQuick = isTooQuickToBeLate { #expect(value.wait.lowestPriority.get() == .success(0)) }
                    quickInARow = isQuick ? quickInARow + 1 : 0
                }
                return quickInARow == 10
            }
            #expect(hasQuickOnes)
            let (value, isDone) = (QueueSafeValue(value: 0), Gate())
            let answer = await MainActor.run {
                value.async(performIn: .main).lowestPriority.set {
                    $0 += 1
                } completion: { _ in
                    isDone.open()
                }
                return value.wait.lowestPriority.get()
            }
            #expect(answer == .success(0))
            await isDone.pass()
        }
        #expect(result?.crashMessage != "It hung.")
    }

    /// In a process of its own: where other tests block threads of the pool, the queue may be late. A private queue was late
    /// while a thread of it waited, so it is taken for a serial one, and passed for some rounds; on a busy machine again.
    @Test("Rule 5: a completion on a concurrent or global queue sees what it submitted to that queue")
    func ownWritesAreSeen() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 280)
            let value = QueueSafeValue(value: 0)
            try await onThreadOfItsOwn {
                for queue in [DispatchQueue(label: "own", attributes: .concurrent), .global()] {
                    for _ in 0..<3 {
                        queue.sync {
                            queue.suspend()
                            value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                            _ = value.wait.lowestPriority.get()
                            queue.resume()
                        }
                        try poll("the late command has run") { value.pendingCommandCount() == 0 }
                    }
                    // A write may be seen by luck, so most of 100 in a row are to be. On a busy machine the queue may be late
                    // again and again; it is waited for now and then all the same.
                    let seen = Log<Bool>()
                    let lateCount = Protected(0)
                    for _ in 0..<1_000 where seen.entries.suffix(100).count(where: \.self) < 90 {
                        let isOver = Door()
                        value.async(performIn: queue).lowestPriority.update { number in
                            number += 1
                            return number
                        } completion: { before in
                            value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                            let isQuick = isTooQuickToBeLate { seen.add(value.wait.lowestPriority.get() != before) }
                            if !isQuick { lateCount.write { $0 += 1 } }
                            isOver.open()
                        }
                        isOver.waitUntilOpen()
                    }
                    precondition(seen.count < 1_000 || lateCount.wrappedValue > 1, "own writes stay unseen")
                }
            }
        }
    }
}
