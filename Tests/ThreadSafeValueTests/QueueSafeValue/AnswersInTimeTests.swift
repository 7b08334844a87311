//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("The promises of a queue-safe value: user code without the turn, and answers in time")
struct AnswersInTimeTests {
    // MARK: Rule 6, what goes away

    @Test(
        "Rule 6: what the closure of a manual command captured goes away without the turn, and after `done` can end it"
    )
    func capturedByManualCommand() throws {
        let answers = try inTime(seconds: 60) {
            let (value, answers, isOver) = (QueueSafeValue(value: 0), Log<Answer>(), DispatchGroup())
            for queue in [DispatchQueue(label: "serial"), DispatchQueue(label: "concurrent", attributes: .concurrent)] {
                for _ in 0..<2 { isOver.enter() }
                let isGoing = Door()
                do {
                    let last = Last {
                        isGoing.open()
                        answers.add(value.wait.lowestPriority.set { $0 += 10 })
                        isOver.leave()
                    }
                    value.async(performIn: queue).lowestPriority.set { number, done in
                        withExtendedLifetime(last) { number += 1 }
                        DispatchQueue.global().async {
                            isGoing.waitUntilOpen()
                            done()
                        }
                    } completion: { _ in
                        isOver.leave()
                    }
                }
                isOver.wait()
            }
            return answers.entries
        }
        #expect(answers == [.success(11), .success(22)])
    }

    enum Kind: CaseIterable {
        case answer, error, captured, replaced, cancelled
        case pushedOutByQueue, pushedOutByDone, pushedOutByThread, pushedOutByTask, pushedOutByWithLocked

        var isPushedOut: Bool {
            Self.allCases.firstIndex(of: self)! >= Self.allCases.firstIndex(of: .pushedOutByQueue)!
        }
    }

    /// The object ends when the other thread has had its turn. On a concurrent queue, so that another block can come.
    @Test(
        "Rule 6: an equal thread does not wait for the end of an object that a command lets go",
        arguments: Kind.allCases
    )
    func waitsForNoEnd(kind: Kind) throws {
        try inTime(seconds: 60) {
            let value = QueueSafeValue<Last?>(value: nil)
            let commands = value.async(performIn: DispatchQueue(label: "concurrent", attributes: .concurrent))
                .lowestPriority
            let (isEnding, mayEnd, hasEnded) = (Door(), Door(), Door())
            let object: @Sendable () -> Last = {
                Last {
                    isEnding.open()
                    mayEnd.waitUntilOpen()
                    hasEnded.open()
                }
            }
            // Its buffer keeps the newest object, until another change pushes that out.
            let listener = value.changes().makeAsyncIterator()
            if kind.isPushedOut { value.wait.lowestPriority.set { $0 = object() } }
            value.suspend()
            var threads: [RunningThread] = []
            switch kind {
            case .answer: commands.update { _ in object() }
            case .error: commands.set { _ in throw Thrown(object: object()) }
            case .captured: ({ object in _ = commands.set { _ in withExtendedLifetime(object) {} } })(object())
            case .replaced:
                commands.set(newValue: object())
                commands.set(newValue: nil)
            case .cancelled:
                let handle = ({ object in commands.set { _ in withExtendedLifetime(object) {} } })(object())
                threads = [RunningThread { handle.cancel() }]
            case .pushedOutByQueue: commands.set { $0 = nil }
            case .pushedOutByDone:
                commands.set { object, done in
                    object = nil
                    DispatchQueue.global().async { done() }
                }
            case .pushedOutByThread: threads = [RunningThread { value.wait.highestPriority.set { $0 = nil } }]
            case .pushedOutByTask: OwnThreads.run { await value.async.highestPriority.set { $0 = nil } }
            case .pushedOutByWithLocked:
                threads = [RunningThread { withLocked(value, QueueSafeValue(value: 0)) { object, _ in object = nil } }]
            }
            commands.set { _ in
            } completion: { _ in
            }
            commands.set { _ in }
            if kind == .cancelled { isEnding.waitUntilOpen() }
            value.resume()
            isEnding.waitUntilOpen()
            // Twice, so that the block that lets go is surely over, or another one has come.
            for _ in 0..<2 { value.wait.lowestPriority.set { _ in } }
            let isTold = Door()
            commands.get { _ in isTold.open() }
            isTold.waitUntilOpen()
            mayEnd.open()
            hasEnded.waitUntilOpen()
            for thread in threads { thread.join() }
            withExtendedLifetime(listener) {}
        }
    }

    private struct Thrown: Error {
        let object: Last
    }

    @Test(
        "Rule 6: what waits for a value goes on while the completion of the command that set it waits for that",
        arguments: [false, true]
    )
    func watcherBesideCompletion(isTask: Bool) throws {
        let isDone = try inTime(seconds: 60) {
            let value = QueueSafeValue(value: 0)
            let (isTested, isDone) = (Door(), Door())
            let isMet: @Sendable (Int) -> Bool = {
                isTested.open()
                return $0 == 1
            }
            if isTask {
                OwnThreads.run {
                    await value.async.lowestPriority.set(when: isMet) { _ in }
                    isDone.open()
                }
            } else {
                _ = RunningThread {
                    value.wait.lowestPriority.set(when: isMet) { _ in }
                    isDone.open()
                }
            }
            isTested.waitUntilOpen()
            // It has given the turn back.
            value.wait.lowestPriority.get { _ in }
            value.suspend()
            let commands = value.async(performIn: DispatchQueue(label: "concurrent", attributes: .concurrent))
                .lowestPriority
            let isTold = Door()
            commands.set {
                $0 = 1
            } completion: { _ in
                isDone.waitUntilOpen()
                isTold.open()
            }
            commands.get { _ in }
            value.resume()
            isTold.waitUntilOpen()
            return true
        }
        #expect(isDone)
    }

    // MARK: Promise 9, time-outs

    @Test("Promise 9: on a free value a time-out of a nanosecond answers as one of zero", arguments: [0, 1])
    func shortTimeOut(nanoseconds: Int) async throws {
        let (value, other) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
        let timeout = DispatchTimeInterval.nanoseconds(nanoseconds)
        let answers = try inTime {
            (0..<200).flatMap { _ in
                [
                    value.wait(timeout: timeout).lowestPriority.get(),
                    value.wait(timeout: timeout).highestPriority.set { _, done in done() },
                    withLocked(value, other, timeout: timeout) { value, _ in value },
                ]
            }
        }
        #expect(answers.allSatisfy { $0 == .success(0) })
        for _ in 0..<200 {
            #expect(await value.async(timeout: timeout).lowestPriority.get() == .success(0))
            let answer = await value.async(timeout: timeout).lowestPriority.set { _ in await Task.yield() }
            #expect(answer == .success(0))
        }
    }

    /// A thread that does not run takes the turn too late.
    @Test("Promise 9: no closure of a thread begins after its time-out", arguments: [false, true])
    func threadIsHeldUp(isWithLocked: Bool) async {
        await #expect(processExitsWith: .success) { [isWithLocked = isWithLocked as Bool] in
            giveUp(afterSeconds: 60)
            Mistakes.keepQuiet()
            var rounds = 0
            while rounds < 3 {
                let (value, other) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
                let (answers, holder) = (Log<Answer>(), HoldingThread(value))
                let timeout = DispatchTimeInterval.milliseconds(200)
                let (thread, running) = HeldUpThread.start {
                    answers.add(
                        isWithLocked
                            ? withLocked(other, value, timeout: timeout) { _, value in value }
                            : value.wait(timeout: timeout).lowestPriority.get()
                    )
                }
                while value.pendingCommandCount() < 1, answers.count == 0 { usleep(10) }
                // It falls asleep.
                usleep(5_000)
                thread.holdUp()
                holder.end()
                usleep(250_000)
                thread.letGo()
                running.join()
                precondition(answers.entries == [.failure(.timedOut)], "\(answers.entries)")
                rounds += 1
            }
        }
    }

    @Test("Promise 9: no closure begins after its time-out because the test of its condition took long")
    func slowCondition() async throws {
        let value = QueueSafeValue(value: 0)
        let isSlow: @Sendable (Int) -> Bool = { _ in
            usleep(20_000)
            return true
        }
        let answer = try inTime {
            value.wait(timeout: .milliseconds(10)).lowestPriority.set(when: isSlow) { $0 += 1 }
        }
        #expect(answer == .failure(.timedOut))
        let awaited = await value.async(timeout: .milliseconds(10)).lowestPriority.set(when: isSlow) { $0 += 1 }
        #expect(awaited == .failure(.timedOut))
        #expect(await value.async.lowestPriority.get() == .success(0))
    }

    /// More blocks than the pool has threads: what is dispatched there never comes.
    @Test("Promise 9: time-outs and late queues need no thread of a pool")
    func poolIsBlocked() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 60)
            let (begun, end) = (Door(), DispatchSemaphore(value: 0))
            for _ in 0..<300 {
                DispatchQueue.global(qos: .userInitiated).async {
                    begun.open()
                    end.wait()
                }
            }
            begun.waitUntilOpen()
            let value = QueueSafeValue(value: 0)
            let holder = HoldingThread(value)
            let awaited = await value.async(timeout: .milliseconds(20)).lowestPriority.get()
            precondition(awaited == .failure(.timedOut))
            let queue = DispatchQueue(label: "stands")
            queue.suspend()
            value.async(performIn: queue).lowestPriority.set { $0 += 1 }
            holder.end()
            precondition(value.wait.lowestPriority.get() == .success(0))
            queue.resume()
        }
    }

    // MARK: Promise 9, what is late

    @Test("Promise 9: tasks that are late are counted, bounded and cancelled")
    func lateTasks() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        try await onThreadOfItsOwn {
            try inTime {
                let value = QueueSafeValue(value: 0, pendingCommandLimit: 3)
                let (executor, answers) = (QueueExecutor(), Log<Answer>())
                let blocker = Blocker(value)
                for _ in 0..<2 {
                    Task(executorPreference: executor) { answers.add(await value.async.lowPriority.set { $0 += 1 }) }
                }
                try value.waitForPending(2)
                executor.suspend()
                blocker.end()
                // Both are late when it has its turn.
                let ready = Blocker(value)
                let thread = RunningThread { value.wait.lowestPriority.get { _ in } }
                try value.waitForPending(3)
                ready.end()
                thread.join()
                #expect(value.pendingCommandCount() == 2)
                #expect(value.pendingCommandCount(.low) == 2)
                value.suspend()
                let commands = value.async(performIn: .utility).lowestPriority
                #expect(commands.set { $0 += 1 }.state == .waiting)
                #expect(commands.set { $0 += 1 }.state == .refused)
                #expect(value.cancelAllPendingCommands() == 3)
                #expect(value.pendingCommandCount() == 0)
                executor.queue.resume()
                try poll("they are told") { answers.count == 2 }
                #expect(answers.entries == [.failure(.cancelled), .failure(.cancelled)])
                value.resume()
            }
        }
    }

    @Test("Promise 9: a command whose `cancel()` answered `false` has begun, also amid suspensions")
    func cancelSaysTheTruth() throws {
        let lies = try inTime {
            let queue = DispatchQueue(label: "target")
            var random = SeededRandom(for: "cancelSaysTheTruth")
            return (0..<300).reduce(0) { lies, _ in
                let value = QueueSafeValue(value: 0)
                let handles = (0..<64).map { _ in value.async(performIn: queue).lowestPriority.set { $0 += 1 } }
                spin(random.next() % 20_000)
                value.suspend()
                let begun = handles.count { !$0.cancel() }
                // What runs yet ends.
                queue.sync {}
                defer { value.resume() }
                return lies + (handles.count { $0.state == .finished } == begun ? 0 : 1)
            }
        }
        #expect(lies == 0)
    }
}
