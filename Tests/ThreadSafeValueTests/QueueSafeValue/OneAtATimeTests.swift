//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("One at a time")
struct OneAtATimeTests {
    private static let expected = ["closure", "closure returns", "done", "highest", "lowest"]

    // The times are those of `done` and of the lowest command. A queue that is late comes after that.
    private func check(_ entries: [String], _ times: [UInt64]) {
        if times[1] - times[0] < timeUntilLate { return #expect(entries == Self.expected) }
        #expect(entries.prefix(3) == Self.expected.prefix(3))
        #expect(entries.sorted() == Self.expected)
    }

    @Test("A waiting manual command keeps the turn until its `done`, on another thread 100 ms later")
    func waitKeepsTurn() throws {
        let (log, times) = (Log<String>(), Log<UInt64>())
        try inTime {
            let value = QueueSafeValue(value: 0)
            let started = Door()
            let first = RunningThread {
                value.wait.lowestPriority.set { _, done in
                    log.add("closure")
                    DispatchQueue.global().asyncAfter(deadline: .now() + 0.1) {
                        times.add(nanoseconds())
                        log.add("done")
                        done()
                    }
                    started.open()
                    log.add("closure returns")
                }
            }
            started.waitUntilOpen()
            let next = value.async(performIn: DispatchQueue(label: "next")).highestPriority
            let highest = next.set { _ in log.add("highest") }
            value.wait.lowestPriority.set { _ in
                times.add(nanoseconds())
                log.add("lowest")
            }
            highest.wait()
            first.join()
        }
        check(log.entries, times.entries)
    }

    @Test("So does an async one, on its queue, which is free meanwhile")
    func asyncKeepsTurn() throws {
        let (log, times) = (Log<String>(), Log<UInt64>())
        try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            let started = Door()
            value.async(performIn: queue).lowestPriority.set { _, done in
                log.add("closure")
                DispatchQueue.global().asyncAfter(deadline: .now() + 0.1) {
                    times.add(nanoseconds())
                    log.add("done")
                    done()
                }
                started.open()
                log.add("closure returns")
            }
            started.waitUntilOpen()
            queue.sync {}
            let highest = value.async(performIn: queue).highestPriority.set { _ in log.add("highest") }
            value.wait.lowestPriority.set { _ in
                times.add(nanoseconds())
                log.add("lowest")
            }
            highest.wait()
        }
        check(log.entries, times.entries)
    }

    @Test("`done` on another thread before the closure returns doesn't end the command: its closure has the value")
    func doneBeforeReturn() throws {
        let log = Log<String>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let isDone = Door()
            let inLine = Door()
            let first = RunningThread {
                let answer = value.wait.lowestPriority.set { number, done in
                    RunningThread { done() }.join()
                    isDone.open()
                    inLine.waitUntilOpen()
                    number = 7
                    log.add("closure returns")
                }
                log.add("\(answer)")
            }
            isDone.waitUntilOpen()
            let second = RunningThread { value.wait.highestPriority.set { log.add("next finds \($0)") } }
            try value.waitForPending(1)
            inLine.open()
            first.join()
            second.join()
        }
        #expect(log.entries.first == "closure returns")
        #expect(Set(log.entries) == ["closure returns", "next finds 7", "success(7)"])
    }

    @Test("`done` called late ends its command then, and until then nobody else has the turn")
    func doneLate() throws {
        let log = Log<String>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let blocker = Blocker(value)
            let thread = RunningThread { value.wait.highestPriority.set { _ in log.add("next") } }
            try value.waitForPending(1)
            for _ in 0..<20 {
                let answer = value.wait(timeout: .milliseconds(1)).highestPriority.get()
                if answer != .failure(.timedOut) { log.add("passed: \(answer)") }
            }
            log.add("done")
            blocker.end()
            thread.join()
        }
        #expect(log.entries == ["done", "next"])
    }

    @Test("`done` called on another thread, 1,000 times, ends each command once")
    func doneElsewhere() throws {
        let (answers, completions) = try inTime {
            let value = QueueSafeValue(value: 0)
            let completions = Log<Answer>()
            let others = [DispatchQueue.global(), DispatchQueue(label: "serial"), .global(qos: .background)]
            let group = DispatchGroup()
            var answers: [Answer] = []
            for round in 0..<500 {
                group.enter()
                value.async(performIn: others[(round + 1) % 3]).lowestPriority.set { number, done in
                    number += 1
                    others[round % 3].async { done() }
                } completion: { result in
                    completions.add(result)
                    group.leave()
                }
                answers.append(
                    value.wait.highestPriority.set { number, done in
                        number += 1
                        others[round % 3].async { done() }
                    }
                )
            }
            group.wait()
            return (answers, completions.entries)
        }
        let numbers = (answers + completions).compactMap { try? $0.get() }
        #expect(numbers.sorted() == Array(1...1_000))
    }

    /// Nothing but the turn orders the threads. Under the thread sanitizer.
    @Test("Each waiting command sees all that those before it wrote, also if it passes others")
    func seesAll() throws {
        let rounds = rounds(20_000)
        let sum = try inTime {
            let value = QueueSafeValue(value: 0)
            let outside = Unguarded(0)
            onThreads(4) { _ in
                for _ in 0..<rounds {
                    value.wait.lowestPriority.set { number in
                        number += 1
                        outside.value += 1
                        // Now and then for so long that others park.
                        if number.isMultiple(of: 16) { work(nanoseconds: 20_000) }
                    }
                }
            }
            return [value.wait.lowestPriority.get(), .success(outside.value)]
        }
        #expect(sum == [.success(4 * rounds), .success(4 * rounds)])
    }

    @Test("Commands of all kinds from many threads never meet in the value, and none is lost")
    func neverMeet() throws {
        let rounds = 150
        let threads = 6
        // Nothing but the turns guards these.
        let inside = Unguarded(0)
        let highest = Unguarded(0)
        let completions = Log<Bool>()
        let sum = try inTime {
            let value = QueueSafeValue(value: 0)
            let serial = DispatchQueue(label: "serial")
            let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
            let group = DispatchGroup()
            let enter: @Sendable () -> Void = {
                inside.value += 1
                highest.value = max(highest.value, inside.value)
            }
            let leave: @Sendable () -> Void = { inside.value -= 1 }
            onThreads(threads) { index in
                let wait = index % 2 == 0 ? value.wait.lowestPriority : value.wait.highestPriority
                for round in 0..<rounds {
                    let target = round % 2 == 0 ? serial : concurrent
                    let schedule = value.async(performIn: target)
                    let async = round % 3 == 0 ? schedule.lowestPriority : schedule.highestPriority
                    wait.set { number in
                        enter()
                        number += 1
                        leave()
                    }
                    wait.set { number, done in
                        enter()
                        number += 1
                        concurrent.async {
                            leave()
                            done()
                        }
                    }
                    group.enter()
                    async.set { number in
                        enter()
                        number += 1
                        leave()
                    } completion: { result in
                        completions.add((try? result.get()) != nil)
                        group.leave()
                    }
                    group.enter()
                    async.set { number, done in
                        enter()
                        number += 1
                        serial.async {
                            leave()
                            done()
                        }
                    } completion: { result in
                        completions.add((try? result.get()) != nil)
                        group.leave()
                    }
                    group.enter()
                    async.get { _ in
                        enter()
                        leave()
                        group.leave()
                    }
                }
            }
            group.wait()
            return value.wait.lowestPriority.get()
        }
        #expect(sum == .success(threads * rounds * 4))
        #expect(highest.value == 1)
        #expect(completions.entries == Array(repeating: true, count: threads * rounds * 2))
    }

    // The thread sanitizer must not take an access to the value for one to what lies beside it.
    @Test("A value without a size gives turns as any other")
    func emptyValue() {
        let (turns, lock) = (QueueSafeValue(value: ()), Protected(()))
        let (count, lockedCount) = (Unguarded(0), Unguarded(0))
        onThreads(4) { _ in
            for _ in 0..<1_000 {
                turns.wait.highestPriority.set { empty in
                    empty = ()
                    count.value += 1
                }
                lock.write { empty in
                    empty = ()
                    lockedCount.value += 1
                }
            }
        }
        #expect(count.value == 4_000 && lockedCount.value == 4_000)
    }
}
