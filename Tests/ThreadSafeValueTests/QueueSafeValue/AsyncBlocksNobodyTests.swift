//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

@Suite("Async blocks nobody")
struct AsyncBlocksNobodyTests {
    @Test("Submitting returns at once: while the turn is taken, and while the target queue is suspended")
    func submittingReturns() throws {
        let log = Log<String>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let suspended = DispatchQueue(label: "suspended")
            suspended.suspend()
            let blocker = Blocker(value)
            let group = DispatchGroup()
            for _ in 0..<100 {
                group.enter()
                value.async(performIn: suspended).highestPriority.set { number, done in
                    log.add("closure")
                    number += 1
                    DispatchQueue.global().async { done() }
                } completion: { _ in
                    group.leave()
                }
                value.async(performIn: suspended).lowestPriority.set { $0 += 1 }
            }
            log.add("submitted")
            blocker.end()
            suspended.resume()
            group.wait()
        }
        #expect(log.entries.first == "submitted")
        #expect(log.count == 101)
    }

    @Test("A target queue is free for other work while its commands wait for their turn")
    func queueIsFree() throws {
        try inTime {
            let value = QueueSafeValue(value: 0)
            let queues = (0..<10).map { DispatchQueue(label: "\($0)") }
            let blocker = Blocker(value)
            let group = DispatchGroup()
            for queue in queues {
                group.enter()
                value.async(performIn: queue).highestPriority.set { _ in group.leave() }
            }
            for queue in queues { queue.sync {} }
            blocker.end()
            group.wait()
        }
    }

    @Test("A target queue gets to its other blocks after a batch of commands", arguments: [false, true])
    func otherBlocks(areTold: Bool) throws {
        let value = QueueSafeValue(value: 0)
        let answer = Log<Int>()
        try inTime {
            let queue = DispatchQueue(label: "target")
            queue.suspend()
            let commands = value.async(performIn: queue).lowestPriority
            for _ in 0..<1_000 {
                if areTold {
                    commands.set {
                        $0 += 1
                    } completion: { _ in
                    }
                } else {
                    commands.set { $0 += 1 }
                }
            }
            queue.async { answer.add((try? value.wait.highestPriority.get().get()) ?? -1) }
            let end = Door()
            value.async(performIn: queue).lowestPriority.get { _ in end.open() }
            queue.resume()
            end.waitUntilOpen()
        }
        #expect(answer.entries[0] < 1_000)
    }

    @Test("A closure may call `sync` on a queue for which commands are pending")
    func closureSyncs() throws {
        try inTime {
            let value = QueueSafeValue(value: 0)
            let target = DispatchQueue(label: "target")
            let other = DispatchQueue(label: "other")
            let blocker = Blocker(value)
            let group = DispatchGroup()
            for _ in 0..<20 {
                group.enter()
                value.async(performIn: other).highestPriority.set { number in
                    target.sync { number += 1 }
                    group.leave()
                }
                group.enter()
                value.async(performIn: target).highestPriority.set { number in
                    other.sync { number += 1 }
                    group.leave()
                }
            }
            blocker.end()
            value.wait.lowestPriority.set { number in target.sync { other.sync { number += 1 } } }
            group.wait()
        }
    }

    @Test("A waiting closure may call `main.sync` while commands for the main queue are pending")
    func closureSyncsWithMain() throws {
        let answer = try inTime {
            let value = QueueSafeValue(value: 0)
            let group = DispatchGroup()
            let answer = value.wait.highestPriority.set { number in
                for _ in 0..<20 {
                    group.enter()
                    value.async(performIn: .main).highestPriority.set { _ in group.leave() }
                }
                DispatchQueue.main.sync { number = 5 }
            }
            group.wait()
            return answer
        }
        #expect(answer == .success(5))
    }

    @Test("A completion may wait for the value")
    func completionWaits() throws {
        let answers = Log<Result<Int, QueueSafeValueError>>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            let group = DispatchGroup()
            for _ in 0..<20 {
                group.enter()
                value.async(performIn: queue).highestPriority.set {
                    $0 += 1
                } completion: { _ in
                    answers.add(value.wait.lowestPriority.get())
                    group.leave()
                }
                group.enter()
                value.async(performIn: queue).lowestPriority.set {
                    $0 += 1; $1()
                } completion: { _ in
                    answers.add(value.wait.highestPriority.get())
                    group.leave()
                }
            }
            group.wait()
        }
        #expect(answers.count == 40)
        #expect(answers.entries.allSatisfy { (try? $0.get()) != nil })
    }

    /// A block whose completion takes longer than 5 ms, or waits for the value, is replaced by another, which begins
    /// commands meanwhile. The first then comes back in the middle of those.
    @Test(
        "A completion that takes long or waits comes back to a queue that went on: each command runs and tells once",
        arguments: [true, false]
    )
    func comesBack(waits: Bool) throws {
        let ran = Log<Int>()
        let told = Log<Int>()
        let count = waits ? 3_000 : 300
        try inTime {
            let value = QueueSafeValue(value: 0)
            value.suspend()
            let group = DispatchGroup()
            for number in 0..<count {
                group.enter()
                value.async(performIn: .utility).lowestPriority.set { _ in
                    ran.add(number)
                } completion: { _ in
                    told.add(number)
                    if number % 17 == 0 {
                        if waits { _ = value.wait.lowestPriority.get() } else { usleep(7_000) }
                    } else if number % 3 == 0, !waits {
                        usleep(30)
                    }
                    group.leave()
                }
            }
            #expect(throws: Never.self) { try value.resume().get() }
            group.wait()
        }
        #expect(ran.entries == Array(0..<count))
        #expect(told.entries.sorted() == Array(0..<count))
    }
}
