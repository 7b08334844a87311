//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

/// A queue that is late may change an answer, as one of a busy machine is now and then: a test judges quick rounds only.
@Suite("The rules of the line")
struct RuleTests {
    // MARK: 1, take

    @Test("Rule 1: a thread that submits and then waits sees what it submitted", arguments: [false, true])
    func ownCommandsAreSeen(besideThread: Bool) throws {
        let unseen = try inTime {
            let queue = DispatchQueue(label: "target")
            var unseen = 0
            for _ in 0..<40 {
                let value = QueueSafeValue(value: 0)
                value.suspend()
                let equal = besideThread ? RunningThread { value.wait.lowestPriority.get { _ in } } : nil
                if besideThread { try value.waitForPending(1) }
                value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                var answer = Answer.success(0)
                let isJudged = isTooQuickToBeLate {
                    value.resume()
                    answer = value.wait.lowestPriority.get()
                }
                if isJudged, answer != .success(1) { unseen += 1 }
                equal?.join()
            }
            return unseen
        }
        #expect(unseen == 0)
    }

    /// Nobody is in line beside the command of the queue, which so keeps its place.
    @Test("Rule 1: a free turn that a queue is to come for is taken by who is more urgent, and by no equal")
    func urgentNewcomer() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "stands")
            queue.suspend()
            value.async(performIn: queue).mediumPriority.set { $0 += 1 }
            let atOnce = value.wait(timeout: .seconds(0))
            let answers = [
                atOnce.lowPriority.get(), atOnce.mediumPriority.get(), atOnce.highPriority.set { $0 += 10 },
            ]
            queue.resume()
            queue.sync {}
            return answers + [atOnce.lowestPriority.get()]
        }
        #expect(answers == [.failure(.timedOut), .failure(.timedOut), .success(10), .success(11)])
    }

    // MARK: 2, wait

    @Test("Rule 2: threads that sleep until the turn is there are all woken")
    func sleepersAreWoken() throws {
        let sum = try inTime {
            let value = QueueSafeValue(value: 0)
            for _ in 0..<10 {
                let holder = HoldingThread(value)
                let threads = (0..<16).map { index in
                    RunningThread {
                        value.wait.priority(CommandPriority.allCases[index % 5]).set { $0 += 1 }
                    }
                }
                try value.waitForPending(16)
                holder.end()
                for thread in threads { thread.join() }
            }
            return value.wait.lowestPriority.get()
        }
        #expect(sum == .success(160))
    }

    @Test("Rule 2: no wake-up is lost among many threads that come and go")
    func noWakeUpIsLost() throws {
        let sum = try inTime {
            let value = QueueSafeValue(value: 0)
            onThreads(24) { index in
                for round in 0..<100 {
                    value.wait.lowestPriority.set {
                        $0 += 1
                        // With the turn: others find it taken, and go to sleep.
                        if round % 10 == index % 10 { usleep(20) }
                    }
                }
            }
            return value.wait.lowestPriority.get()
        }
        #expect(sum == .success(2_400))
    }

    // MARK: 3, release

    @Test("Rule 3: a release with nothing in line leaves the turn free for a try")
    func turnIsFree() async throws {
        let value = QueueSafeValue(value: 0)
        let answers = Log<Answer>()
        let tryIt: @Sendable () -> Void = { answers.add(value.wait(timeout: .seconds(0)).lowestPriority.get()) }
        try await onThreadOfItsOwn {
            try inTime {
                tryIt()
                value.wait.lowestPriority.set { $0 += 1 }
                tryIt()
                value.wait.highestPriority.set { _, done in done() }
                tryIt()
                value.suspend()
                value.resume()
                tryIt()
                let target = DispatchQueue(label: "target")
                value.async(performIn: target).lowestPriority.set {
                    $0 += 1
                } completion: { _ in
                }
                // Its block is over.
                try poll("it has run") { value.pendingCommandCount() == 0 }
                target.sync {}
                tryIt()
                // Those that were in line and are no more.
                let holder = HoldingThread(value)
                _ = value.wait(timeout: .milliseconds(1)).highestPriority.get()
                let queue = DispatchQueue(label: "stands")
                queue.suspend()
                value.async(performIn: queue).highestPriority.set { $0 += 1 }.cancel()
                holder.end()
                tryIt()
                queue.resume()
            }
        }
        await value.async.lowestPriority.set { $0 += 1 }
        tryIt()
        await value.async.lowestPriority.set {
            await Task.yield()
            $0 += 1
        }
        tryIt()
        #expect(answers.entries == [0, 1, 1, 1, 2, 2, 3, 4].map { .success($0) })
    }

    @Test("Rule 3: a completion finds the turn free for a try, when nothing is in line")
    func turnIsFreeInCompletion() throws {
        let (answers, pending) = try inTime {
            let value = QueueSafeValue(value: 0)
            let (answers, pending) = (Log<Answer>(), Log<Int>())
            let told = Door()
            value.async(performIn: DispatchQueue(label: "target")).lowestPriority.set {
                $0 += 1
            } completion: { _ in
                pending.add(value.pendingCommandCount())
                // On the queue, then on another thread.
                answers.add(value.wait(timeout: .seconds(0)).lowestPriority.get())
                RunningThread { answers.add(value.wait(timeout: .seconds(0)).lowestPriority.get()) }.join()
                told.open()
            }
            told.waitUntilOpen()
            return (answers.entries, pending.entries)
        }
        #expect(pending == [0])
        #expect(answers == [.success(1), .success(1)])
    }

    // MARK: 4, owed

    /// Each time that the other has the turn it looks whether somebody waits, so rounds are counted and no time.
    @Test("Rule 4: a waiting thread gets its turn beside one that comes again and again")
    func threadIsServed() throws {
        let (served, roundsInLine) = try inTime {
            let value = QueueSafeValue(value: 0)
            let isOver = Protected(false)
            let served = Protected(0)
            let waiting = RunningThread {
                for _ in 0..<10 where !isOver.wrappedValue {
                    value.wait.lowestPriority.set { _ in
                        if !isOver.wrappedValue { served.write { $0 += 1 } }
                    }
                }
                isOver.wrappedValue = true
            }
            var roundsInLine = 0
            while !isOver.wrappedValue, roundsInLine < 1_000 {
                value.wait.lowestPriority.set { _ in
                    usleep(400)
                    if value.pendingCommandCount() > 0 { roundsInLine += 1 }
                }
            }
            isOver.wrappedValue = true
            waiting.join()
            return (served.wrappedValue, roundsInLine)
        }
        #expect(served == 10)
        #expect(roundsInLine < 500)
    }

    @Test("Rule 4: a free turn that is owed to a task that came in vain is taken by no equal")
    func taskIsOwed() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        let isOwed = try await onThreadOfItsOwn {
            try inTime {
                // Again, where the machine is so slow that the task is late.
                (0..<20).contains { _ in
                    let (value, executor) = (QueueSafeValue(value: 0), QueueExecutor())
                    let first = Blocker(value)
                    Task(executorPreference: executor) { await value.async.lowestPriority.set { $0 += 10 } }
                    while value.pendingCommandCount() < 1 { usleep(10) }
                    // The task rests, is sent for, and comes when another command has the turn. It is sent for again.
                    executor.suspend()
                    first.end()
                    let second = Blocker(value)
                    executor.queue.resume()
                    executor.suspend()
                    second.end()
                    let isOwed = value.wait(timeout: .nanoseconds(0)).lowestPriority.get() == .failure(.timedOut)
                    executor.queue.resume()
                    while value.wait.lowestPriority.get() != .success(10) { usleep(10) }
                    return isOwed
                }
            }
        }
        #expect(isOwed)
    }

    @Test("Rule 4: a queue and a task get their turns beside threads that never stop")
    func laneIsServed() throws {
        let served = try inTime {
            let value = QueueSafeValue(value: 0)
            let rounds = Protected(0)
            let (ofQueue, ofTask) = (Protected(0), Protected(0))
            let hogs = (0..<2).map { _ in
                RunningThread {
                    while ofQueue.wrappedValue + ofTask.wrappedValue < 20, rounds.wrappedValue < 20_000 {
                        value.wait.lowestPriority.set { _ in usleep(50) }
                        rounds.write { $0 += 1 }
                    }
                }
            }
            let queue = DispatchQueue(label: "target")
            let last = RunningThread {
                for _ in 0..<10 {
                    let end = Door()
                    value.async(performIn: queue).lowestPriority.get { _ in
                        ofQueue.write { $0 += 1 }
                        end.open()
                    }
                    end.waitUntilOpen()
                }
            }
            OwnThreads.run {
                for _ in 0..<10 { await value.async.lowestPriority.set { _ in ofTask.write { $0 += 1 } } }
            }
            for hog in hogs { hog.join() }
            // When they stop after all, it is too late.
            let served = rounds.wrappedValue < 20_000 ? ofQueue.wrappedValue + ofTask.wrappedValue : 0
            last.join()
            return served
        }
        #expect(served == 20)
    }

    // MARK: 5, late

    @Test("Rule 5: a queue that stands stalls a thread for a moment only, and its command runs when it comes back")
    func standingQueue() throws {
        let log = Log<String>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "stands")
            queue.suspend()
            value.async(performIn: queue).lowestPriority.set { _ in log.add("queue") }
            value.wait.lowestPriority.set { _ in log.add("thread") }
            queue.resume()
            queue.sync {}
            try poll("all is done") { value.pendingCommandCount() == 0 }
            value.wait.lowestPriority.set { _ in log.add("thread again") }
        }
        #expect(log.entries == ["thread", "queue", "thread again"])
    }

    /// One after the other they would take 10 s.
    @Test("Rule 5: hundreds of queues that stand are late together")
    func standingQueues() throws {
        let (answer, sum) = try inTime {
            let value = QueueSafeValue(value: 0)
            let queues = (0..<2_000).map { DispatchQueue(label: "\($0)") }
            for queue in queues {
                queue.suspend()
                value.async(performIn: queue).highestPriority.set { $0 += 1 }
            }
            let answer = value.wait(timeout: .seconds(9)).lowestPriority.get()
            for queue in queues { queue.resume() }
            try poll("all are done") { value.pendingCommandCount() == 0 }
            return (answer, value.wait.lowestPriority.get())
        }
        #expect(answer == .success(0))
        #expect(sum == .success(2_000))
    }

    @Test("Rule 5: what a change puts in line does not wait for a queue that stands", arguments: [false, true])
    func standingQueueBeforeCondition(isTask: Bool) async throws {
        let value = QueueSafeValue(value: 0)
        let (isTested, isDone) = (Door(), Door())
        let queue = DispatchQueue(label: "stands")
        queue.suspend()
        let isMet: @Sendable (Int) -> Bool = { number in
            isTested.open()
            return number > 0
        }
        let task = Task {
            if isTask { await value.async.lowestPriority.set(when: isMet) { $0 += 1 } }
            isDone.open()
        }
        try await onThreadOfItsOwn {
            try inTime {
                let thread = RunningThread {
                    if isTask { return }
                    value.wait.lowestPriority.set(when: isMet) { $0 += 1 }
                }
                isTested.waitUntilOpen()
                value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                value.wait.highestPriority.set { $0 += 1 }
                thread.join()
                isDone.waitUntilOpen()
                #expect(value.wait.lowestPriority.get() == .success(2))
                queue.resume()
            }
        }
        await task.value
    }

    @Test("Rule 5: a late queue that comes back does not wait for a more urgent one that stands")
    func standingQueueBeforeLateOne() throws {
        try inTime {
            let value = QueueSafeValue(value: 0)
            let (late, standing) = (DispatchQueue(label: "late"), DispatchQueue(label: "stands"))
            late.suspend()
            standing.suspend()
            let isDone = Door()
            value.async(performIn: late).lowestPriority.set {
                $0 += 1
            } completion: { _ in
                isDone.open()
            }
            // It is late now.
            value.wait.lowestPriority.set { $0 += 1 }
            value.async(performIn: standing).highestPriority.set { $0 += 1 }
            late.resume()
            isDone.waitUntilOpen()
            standing.resume()
        }
    }

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

    // MARK: 6, batch

    @Test("Rule 6: completions that block, on a concurrent queue, do not keep the commands behind them")
    func blockingCompletions() throws {
        let (ran, told) = try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
            let (ran, told) = (Log<Int>(), Log<Int>())
            let (othersAreDone, allAreDone) = (Door(), DispatchGroup())
            value.suspend()
            for index in 0..<20 {
                allAreDone.enter()
                value.async(performIn: queue).lowestPriority.set { _ in
                    ran.add(index)
                } completion: { _ in
                    if index == 0 || index == 7 { othersAreDone.waitUntilOpen() }
                    told.add(index)
                    allAreDone.leave()
                }
            }
            value.resume()
            try poll("the others are told") { told.count == 18 }
            othersAreDone.open()
            allAreDone.wait()
            return (ran.entries, told.entries)
        }
        #expect(ran == Array(0..<20))
        #expect(told.sorted() == Array(0..<20))
        #expect(Set(told.suffix(2)) == [0, 7])
    }

    @Test("Rule 6: a completion that waits for the value, and then for the next command, keeps neither")
    func waitingCompletion() throws {
        let order = try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
            let (order, nextIsTold, allAreDone) = (Log<Int>(), Door(), DispatchGroup())
            value.suspend()
            for index in 0..<3 {
                allAreDone.enter()
                value.async(performIn: queue).lowestPriority.set {
                    $0 += 1
                } completion: { _ in
                    if index == 0 {
                        _ = value.wait.lowestPriority.get()
                        nextIsTold.waitUntilOpen()
                    }
                    order.add(index)
                    if index == 1 { nextIsTold.open() }
                    allAreDone.leave()
                }
            }
            value.resume()
            allAreDone.wait()
            return order.entries
        }
        #expect(Set(order) == [0, 1, 2])
    }

    @Test("Rule 6: what a closure returned goes away without the turn, also in the middle of a batch")
    func answersGoAway() throws {
        let seen = try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            let (seen, secondRuns) = (Log<Result<Int, QueueSafeValueError>>(), Door())
            let thread = RunningThread {
                secondRuns.waitUntilOpen()
                value.wait.lowestPriority.set { $0 += 1 }
            }
            value.suspend()
            value.async(performIn: queue).lowestPriority.update { _ in
                Last { seen.add(value.wait.lowestPriority.get()) }
            } completion: { _ in
            }
            value.async(performIn: queue).lowestPriority.set { current in
                current += 1
                secondRuns.open()
                try value.waitForPending(2)
            }
            value.async(performIn: queue).lowestPriority.set { $0 += 1 }
            value.resume()
            try poll("the answer is gone") { seen.count == 1 }
            thread.join()
            return seen.entries
        }
        #expect(seen.map { (try? $0.get()) != nil } == [true])
    }

    @Test("Rule 6: a serial queue gets to its other work amid thousands of commands")
    func otherWork() throws {
        let (seen, sum) = try inTime {
            let value = QueueSafeValue(value: 0)
            let ran = Protected(0)
            let queue = DispatchQueue(label: "target")
            queue.suspend()
            for _ in 0..<3_000 { value.async(performIn: queue).lowestPriority.set { _ in ran.write { $0 += 1 } } }
            let seen = Log<Int>()
            queue.async { seen.add(ran.wrappedValue) }
            queue.resume()
            try poll("all are done") { ran.wrappedValue == 3_000 && seen.count == 1 }
            return (seen.entries, ran.wrappedValue)
        }
        #expect(seen[0] < 3_000)
        #expect(sum == 3_000)
    }

    // MARK: 7, suspended

    @Test("Rule 7: nothing begins whose handle says that it waits after `suspend()` has returned")
    func nothingBegins() throws {
        try inTime {
            let queues = (0..<3).map { DispatchQueue(label: "\($0)") }
            for round in 0..<20 {
                let value = QueueSafeValue(value: 0)
                let (begun, begin) = (Log<Int>(), Door())
                let group = DispatchGroup()
                let handles = (0..<150).map { index in
                    group.enter()
                    return value.async(performIn: queues[index % 3]).lowestPriority.set { _ in
                        begun.add(index)
                        if index == round { begin.open() }
                        group.leave()
                    }
                }
                // Amid those that run.
                begin.waitUntilOpen()
                value.suspend()
                let waiting = Set(handles.indices.filter { handles[$0].state == .waiting })
                for queue in queues { queue.sync {} }
                #expect(value.wait(timeout: .milliseconds(1)).highestPriority.get() == .failure(.timedOut))
                for queue in queues { queue.sync {} }
                #expect(waiting.isDisjoint(with: begun.entries))
                // A command that its block has claimed, and gives back as the value is suspended, waits again by now.
                #expect(value.pendingCommandCount() == handles.count { $0.state == .waiting })
                value.resume()
                group.wait()
                #expect(begun.entries.sorted() == Array(0..<150))
            }
        }
    }

    @Test("Rule 7: `resume()` lets all go that waits, the most urgent first, in the order that they came")
    func resumeInOrder() throws {
        let ran = Log<Int>()
        let priorities = (0..<100).map { CommandPriority.allCases[$0 * 7 % 5] }
        try inTime {
            let value = QueueSafeValue(value: 0)
            let group = DispatchGroup()
            let queue = DispatchQueue(label: "target")
            value.suspend()
            for index in priorities.indices {
                group.enter()
                value.async(performIn: queue).priority(priorities[index]).set { _ in
                    ran.add(index)
                    group.leave()
                }
            }
            let urgent = RunningThread { value.wait.highestPriority.set { _ in ran.add(-1) } }
            try value.waitForPending(101)
            #expect(ran.count == 0)
            value.resume()
            urgent.join()
            group.wait()
        }
        let expected = CommandPriority.allCases.reversed().flatMap { level in
            priorities.indices.filter { priorities[$0] == level }
        }
        #expect(ran.entries.filter { $0 >= 0 } == expected)
        #expect(ran.entries.contains(-1))
    }
}
