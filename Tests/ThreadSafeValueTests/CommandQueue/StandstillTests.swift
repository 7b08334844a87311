//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

@Suite("A queue that stands still stalls nobody")
struct StandstillTests {
    @Test("Suspended queues with commands of highest priority let all others go on, and run theirs when they resume")
    func suspended() throws {
        let sum = try inTime {
            let value = QueueSafeValue(value: 0)
            let group = DispatchGroup()
            let stopped = (0..<5).map { DispatchQueue(label: "\($0)") }
            for queue in stopped {
                queue.suspend()
                for _ in 0..<10 {
                    group.enter()
                    value.async(performIn: queue).highestPriority.set {
                        $0 += 1_000
                        group.leave()
                    }
                }
            }
            let moving = DispatchQueue(label: "moving")
            let others = DispatchGroup()
            for _ in 0..<50 {
                others.enter()
                value.async(performIn: moving).lowestPriority.set {
                    $0 += 1
                    others.leave()
                }
                value.wait.lowestPriority.set { $0 += 1 }
            }
            others.wait()
            let before = value.wait.lowestPriority.get()
            for queue in stopped { queue.resume() }
            group.wait()
            return [before, value.wait.lowestPriority.get()]
        }
        #expect(sum == [.success(100), .success(50_100)])
    }

    @Test("While its queue may still start, lower commands leave the turn to it")
    func turnIsKept() throws {
        let log = Log<String>()
        try inTime {
            let value = QueueSafeValue(value: 0, policy: .unbounded)
            let queue = DispatchQueue(label: "target")
            queue.suspend()
            value.async(performIn: queue).highestPriority.set { _ in log.add("highest") }
            let thread = RunningThread { value.wait.lowestPriority.set { _ in log.add("lowest") } }
            try value.waitForPending(2)
            queue.resume()
            thread.join()
        }
        #expect(log.entries == ["highest", "lowest"])
    }

    @Test("The turn is kept for a queue that does not start for 5 ms, and not at all once it is late")
    func boundIsMeasured() throws {
        #expect(HandoffPolicy().keeping == 5_000_000)
        let (first, later) = try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            queue.suspend()
            let begin = now()
            value.async(performIn: queue).highestPriority.set { _ in }
            value.wait.lowestPriority.set { _ in }
            let first = now() - begin
            // 10,000 commands would take 50 s if each kept the turn anew.
            for _ in 0..<10_000 { value.wait.lowestPriority.set { _ in } }
            let later = now() - begin - first
            queue.resume()
            return (first, later)
        }
        #expect(first >= 4_900_000)
        #expect(later < 45_000_000_000)
    }

    /// Nothing waits for the turn then but the command of the queue: no timer runs, and each look finds the turn kept.
    @Test("Nor does it stall those who only look for the turn", arguments: Look.allCases)
    func looks(look: Look) throws {
        try look.whileQueueIsSuspended(HandoffPolicy()) { value in
            try poll("a look finds the turn free") { look.finds(7, in: value) }
        }
    }

    enum Look: CaseIterable {
        case wait, severalValues, task, submission, description

        func finds(_ number: Int, in value: QueueSafeValue<Int>) -> Bool {
            switch self {
            case .wait: return value.wait(timeout: .seconds(0)).lowestPriority.get() == .success(number)
            case .severalValues:
                let other = QueueSafeValue(value: 0)
                return withLocked(value, other, timeout: .seconds(0)) { value, _ in value } == .success(number)
            case .task, .submission:
                let (answers, end) = (Log<Result<Int, QueueSafeValueError>>(), Door())
                OwnThreads.run {
                    let commands = value.async(timeout: .seconds(0)).lowestPriority
                    answers.add(self == .task ? await commands.get() : await commands.submit { $0 }.value)
                    end.open()
                }
                end.waitUntilOpen()
                return answers.entries == [.success(number)]
            case .description: return String(reflecting: value) == "QueueSafeValue(\(number))"
            }
        }

        /// Calls `body` with 7 while a queue stands still whose command makes 8 of it, and waits until that has run.
        func whileQueueIsSuspended(
            _ policy: HandoffPolicy,
            _ body: @escaping @Sendable (QueueSafeValue<Int>) throws -> Void
        ) throws {
            try inTime {
                let value = QueueSafeValue(value: 7, policy: policy)
                let queue = DispatchQueue(label: "target")
                queue.suspend()
                value.async(performIn: queue).highestPriority.set { $0 += 1 }
                try body(value)
                queue.resume()
                try poll("its command has run") { finds(8, in: value) }
            }
        }
    }

    @Test("While its queue may still start, they find the turn kept for it", arguments: Look.allCases)
    func looksTooEarly(look: Look) throws {
        var policy = HandoffPolicy()
        (policy.keeping, policy.keepingLimit) = (600_000_000_000, 600_000_000_000)
        try look.whileQueueIsSuspended(policy) { value in
            // Until nobody barges any more, and once after that.
            let begin = now()
            while now() < begin + 1_000_000 { #expect(!look.finds(7, in: value)) }
            #expect(!look.finds(7, in: value))
        }
    }

    /// The look comes when nothing has a place in line; the commands are in it again when their queues go on.
    @Test("A look that passes queues that stand still loses none of their commands, 200 times")
    func looksLoseNothing() throws {
        let sums = try inTime {
            try (0..<200).map { _ in
                var policy = HandoffPolicy()
                policy.keeping = 50_000
                let value = QueueSafeValue(value: 0, policy: policy)
                let queues = (0..<3).map { DispatchQueue(label: "\($0)") }
                let group = DispatchGroup()
                for queue in queues {
                    queue.suspend()
                    for _ in 0..<5 {
                        group.enter()
                        value.async(performIn: queue).highestPriority.set {
                            $0 += 1
                        } completion: { _ in
                            group.leave()
                        }
                    }
                }
                let isOver = Protected(false)
                let thread = RunningThread {
                    while !isOver.wrappedValue { value.wait(timeout: .seconds(0)).highestPriority.set { $0 += 100 } }
                }
                try poll("a look finds the turn free") {
                    value.wait(timeout: .seconds(0)).lowestPriority.set { $0 += 100 } != .failure(.timedOut)
                }
                for queue in queues { queue.resume() }
                group.wait()
                isOver.wrappedValue = true
                thread.join()
                return try value.wait.lowestPriority.get().get() % 100
            }
        }
        #expect(sums == Array(repeating: 15, count: 200))
    }

    @Test("A queue that was late has its place in line again")
    func lateQueueIsBack() throws {
        let log = Log<String>()
        try inTime {
            // Time enough for the queue to start when it may, also on a busy machine.
            var policy = HandoffPolicy()
            policy.keeping = 1_000_000_000
            let value = QueueSafeValue(value: 0, policy: policy)
            let queue = DispatchQueue(label: "target")
            queue.suspend()
            value.async(performIn: queue).highestPriority.set { _ in log.add("late") }
            value.wait.lowestPriority.set { _ in log.add("passes") }
            let blocker = Blocker(value)
            value.async(performIn: queue).highestPriority.set { _ in log.add("with it") }
            let thread = RunningThread { value.wait.lowestPriority.set { _ in log.add("last") } }
            try value.waitForPending(3)
            queue.resume()
            // Its block has arrived, found the turn taken and left: the lane is in line again.
            queue.sync {}
            blocker.end()
            thread.join()
        }
        #expect(log.entries == ["passes", "late", "with it", "last"])
    }

    @Test("A block that submits to its own queue and then waits goes on")
    func ownQueue() throws {
        let log = Log<String>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "own")
            let group = DispatchGroup()
            group.enter()
            queue.async(group: group) {
                value.async(performIn: queue).highestPriority.set { _ in
                    log.add("async")
                    group.leave()
                }
                value.wait.lowestPriority.set { _ in log.add("wait") }
                log.add("block ends")
            }
            group.wait()
        }
        #expect(log.entries == ["wait", "block ends", "async"])
    }

    /// The turn would be kept for ten minutes for the block that the completion is in.
    @Test("A completion that submits to its own concurrent queue and then waits goes on at once")
    func ownConcurrentQueue() throws {
        let answer = try inTime {
            let value = QueueSafeValue(value: 0, policy: .unbounded)
            let queue = DispatchQueue(label: "own", attributes: .concurrent)
            let answers = Log<Result<Int, QueueSafeValueError>>()
            let end = Door()
            value.async(performIn: queue).lowestPriority.set {
                $0 += 1
            } completion: { _ in
                value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                answers.add(value.wait.lowestPriority.get())
                end.open()
            }
            end.waitUntilOpen()
            return answers.entries[0]
        }
        #expect(answer == .success(2))
    }

    @Test("So does one that waits while others have the turn, before its queue is next again")
    func ownQueueIsNextLater() throws {
        let answer = try inTime {
            let value = QueueSafeValue(value: 0, policy: .unbounded)
            let queue = DispatchQueue(label: "own", attributes: .concurrent)
            let answers = Log<Result<Int, QueueSafeValueError>>()
            let end = Door()
            value.async(performIn: queue).lowestPriority.set {
                $0 += 1
            } completion: { _ in
                let blocker = Blocker(value)
                value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                let urgent = Thread { value.wait.highestPriority.set { $0 += 1 } }
                urgent.start()
                let last = Thread {
                    try? value.waitForPending(3)
                    blocker.end()
                }
                last.start()
                try? value.waitForPending(2)
                answers.add(value.wait.lowestPriority.get())
                end.open()
            }
            end.waitUntilOpen()
            return answers.entries[0]
        }
        #expect(answer == .success(3))
    }

    @Test("300 blocks of a global pool wait while commands for that pool are pending: all run")
    func fullPool() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let value = QueueSafeValue(value: 0)
            let blocker = Blocker(value)
            let group = DispatchGroup()
            for _ in 0..<300 {
                group.enter()
                DispatchQueue.global().async(group: group) { value.wait.lowestPriority.set { $0 += 1 } }
                value.async(performIn: .default).highestPriority.set {
                    $0 += 1
                    group.leave()
                }
            }
            try poll("blocks wait as well") { value.pendingCommandCount >= 302 }
            blocker.end()
            group.wait()
            #expect(value.wait.lowestPriority.get() == .success(600))
        }
    }

    @Test(
        "300 serial queues wait while a suspended queue is next: all go on, whichever pool they fill",
        arguments: [false, true]
    )
    func fullPoolOfSerialQueues(isInteractive: Bool) async {
        await #expect(processExitsWith: .success) { [isInteractive = isInteractive as Bool] in
            giveUp(afterSeconds: 120)
            let value = QueueSafeValue(value: 0)
            let blocker = Blocker(value)
            let suspended = DispatchQueue(label: "suspended")
            suspended.suspend()
            value.async(performIn: suspended).highestPriority.set { $0 += 1_000 }
            let group = DispatchGroup()
            for index in 0..<300 {
                DispatchQueue(label: "\(index)", qos: isInteractive ? .userInteractive : .default).async(group: group) {
                    value.wait.lowestPriority.set { $0 += 1 }
                }
            }
            try poll("more threads wait than the pool has left") { value.pendingCommandCount > 255 }
            blocker.end()
            group.wait()
            #expect(value.wait.lowestPriority.get() == .success(300))
            suspended.resume()
            suspended.sync {}
        }
    }

    @Test("A busy target queue holds up nobody but its own commands")
    func queueBusy() throws {
        let log = Log<String>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "busy")
            let isBusy = Door()
            let mayEnd = Door()
            queue.async {
                isBusy.open()
                mayEnd.waitUntilOpen()
            }
            isBusy.waitUntilOpen()
            for _ in 0..<10 { value.async(performIn: queue).highestPriority.set { $0 += 1_000 } }
            let other = DispatchQueue(label: "other")
            let group = DispatchGroup()
            for _ in 0..<10 {
                group.enter()
                value.async(performIn: other).lowestPriority.set {
                    $0 += 1
                    group.leave()
                }
                value.wait.lowestPriority.set { $0 += 1 }
            }
            group.wait()
            log.add("\(value.wait.lowestPriority.get())")
            mayEnd.open()
            queue.sync {}
            log.add("\(value.wait.lowestPriority.get())")
        }
        #expect(log.entries == ["success(20)", "success(10020)"])
    }
}
