//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue
import ThreadSafeValueTesting

#if EverySchedule
@Suite("everySchedule", .serialized)
struct EveryScheduleTests {
    private func failure(
        changes: Int = 2,
        replaying: String? = nil,
        _ test: (Schedule) throws -> Void
    ) throws -> ScheduleFailure {
        try #require(throws: ScheduleFailure.self) { try everySchedule(changes: changes, replaying: replaying, test) }
    }

    private func add(_ schedule: Schedule, threads: Int, accesses: Int) {
        let count = Protected(0)
        for name in 0..<threads { schedule.thread("\(name)") { for _ in 0..<accesses { count.wrappedValue += 1 } } }
        schedule.check("all counted") { count.wrappedValue == threads * accesses }
    }

    @Test("The answer says whether it was all schedules, all with so many changes, or stopped by a limit")
    func extents() throws {
        // 2 threads of 2 accesses in every order: 6, and each start and end is a part of a schedule.
        #expect(try everySchedule(changes: 99) { add($0, threads: 2, accesses: 2) }.extent == .all)
        #expect(try everySchedule(changes: 1) { add($0, threads: 2, accesses: 3) }.extent == .changes(1))
        let stopped = try everySchedule(limit: 5) { add($0, threads: 2, accesses: 3) }
        #expect(stopped.schedules == 5 && stopped.extent == .stopped)
        let late = try everySchedule(timeout: .nanoseconds(0)) { add($0, threads: 2, accesses: 3) }
        #expect(late.extent == .stopped)
        #expect("\(stopped)" == "5 schedules, then stopped by a limit")
    }

    @Test("No schedule is run twice")
    func eachOnce() throws {
        let orders = Protected<[[String]]>([])
        try everySchedule(changes: 99) { schedule in
            let log = Protected<[String]>([])
            for name in ["a", "b"] { schedule.thread(name) { for _ in 0..<2 { log.append(name) } } }
            schedule.check("noted") {
                orders.append(log.wrappedValue)
                return true
            }
        }
        // All orders of a, a, b, b.
        #expect(Set(orders.wrappedValue).count == 6)
    }

    @Test("The first failure has the fewest changes, and names each step and its place")
    func text() throws {
        let failure = try failure { schedule in
            let cache = Protected<[String: Int]>([:])
            let loads = Protected(0)
            for name in ["a", "b"] {
                schedule.thread(name) {
                    if cache["x"] == nil {
                        loads.write { $0 += 1 }
                        cache["x"] = 42
                    }
                }
            }
            schedule.check("loaded once") { loads.wrappedValue == 1 }
        }
        let lines = failure.description.split(separator: "\n")
        #expect(lines[0].hasPrefix("loaded once: false, after "))
        #expect(lines[0].hasSuffix(" schedules, with 1 change of threads"))
        #expect(lines[1].hasPrefix("  a  access to Protected<Dictionary<String, Int>>"))
        #expect(lines[1].contains("   EveryScheduleTests.swift:"))
        #expect(lines.last == "replay with everySchedule(replaying: \"\(failure.replay)\")")
    }

    @Test("A thread that throws fails the test, and so does a check that throws")
    func thrownErrors() throws {
        struct Gone: Error {}
        #expect(try failure { $0.thread("a") { throw Gone() } }.description.hasPrefix("a threw Gone()"))
        #expect(try failure { $0.check("c") { throw Gone() } }.description.hasPrefix("c: threw Gone()"))
        #expect(throws: Gone.self) { try everySchedule { _ in throw Gone() } }
        #expect(throws: Never.self) { try everySchedule { $0.task("a") { throw CancellationError() } } }
    }

    @Test("A hang names who waits for whom")
    func hang() throws {
        let failure = try failure { schedule in
            let (a, b) = (Protected(0), Protected(0))
            schedule.thread("first") { a.write { _ in b.wait { $0 == 1 } } }
            schedule.thread("second") { a.write { _ in b.wrappedValue = 1 } }
        }
        #expect(failure.description.contains("second waits after access to Protected<Int>"))
        #expect(failure.description.contains(", which first has"))
    }

    @Test("A time-out costs no time, and may come at any moment")
    func timeouts() throws {
        let (start, answers) = (Date(), Protected<Set<Bool>>([]))
        try everySchedule { schedule in
            let isReady = Protected(false)
            schedule.thread("waits") {
                let isMet = isReady.wait(until: { $0 }, timeout: .seconds(3_600))
                answers.write { _ = $0.insert(isMet) }
            }
            schedule.thread("sets") { isReady.wrappedValue = true }
        }
        #expect(answers.wrappedValue == [true, false])
        #expect(Date().timeIntervalSince(start) < 60)
    }

    @Test("A commands' time-out and that of a task may come too")
    func turnTimeouts() throws {
        let answers = Protected<Set<String>>([])
        try everySchedule { schedule in
            let value = QueueSafeValue(value: 0)
            schedule.thread("a") {
                let result = value.wait(timeout: .seconds(60)).lowestPriority.set { $0 += 1 }
                answers.write { _ = $0.insert("wait \((try? result.get()) != nil)") }
            }
            schedule.task("b") {
                let result = await value.async(timeout: .seconds(60)).lowestPriority.set { $0 += 1 }
                answers.write { _ = $0.insert("await \((try? result.get()) != nil)") }
            }
            schedule.thread("c") { value.wait.lowestPriority.set { _ in Protected(0).wrappedValue = 1 } }
        }
        #expect(answers.wrappedValue == ["wait true", "wait false", "await true", "await false"])
    }

    @Test("A value that goes away takes its order of accesses with it")
    func orderOfGoneValues() throws {
        try everySchedule { schedule in
            schedule.thread("a") {
                for _ in 0..<20 {
                    let (a, b) = (Protected(0), Protected(0))
                    let (first, second) = Bool.random() ? (a, b) : (b, a)
                    first.write { _ in second.wrappedValue += 1 }
                }
            }
        }
    }

    @Test("Opposite orders are no fault where another lock keeps them apart")
    func guardedOrders() throws {
        try everySchedule { schedule in
            let (guardian, a, b) = (Protected(0), Protected(0), Protected(0))
            schedule.thread("a") { guardian.write { _ in a.write { _ in b.wrappedValue += 1 } } }
            schedule.thread("b") { guardian.write { _ in b.write { _ in a.wrappedValue += 1 } } }
        }
    }

    @Test("Opposite orders are a fault where another lock keeps them apart only once")
    func ordersThatAreGuardedOnce() throws {
        let failure = try failure { schedule in
            let (guardian, a, b) = (Protected(0), Protected(0), Protected(0))
            schedule.thread("a") { guardian.write { _ in a.write { _ in b.wrappedValue += 1 } } }
            schedule.thread("b") {
                guardian.write { _ in b.write { _ in a.wrappedValue += 1 } }
                b.write { _ in a.wrappedValue += 1 }
            }
        }
        #expect(failure.description.hasPrefix("opposite orders: a: access to Protected<Int> #2"))
    }

    @Test("A circle of three is a hang")
    func circleOfThree() throws {
        let failure = try failure { schedule in
            let values = [Protected(0), Protected(0), Protected(0)]
            for index in 0..<3 {
                schedule.thread("\(index)") { values[index].write { _ in values[(index + 1) % 3].wrappedValue += 1 } }
            }
        }
        #expect(failure.description.hasPrefix("hang: 0 waits after access to Protected<Int>"))
        #expect(failure.description.contains(", which 1 has"))
    }

    @Test("A replay that is none of this test fails")
    func wrongReplay() throws {
        let failure = try failure(replaying: "z") { add($0, threads: 2, accesses: 2) }
        #expect(failure.description.hasPrefix("the test is not the same each time"))
        #expect(try everySchedule(replaying: "0") { add($0, threads: 2, accesses: 2) }.extent == .replayed)
    }

    @Test("Blocks of a serial queue run one after the other, on their queue")
    func serialQueue() throws {
        try everySchedule { schedule in
            let queue = DispatchQueue(label: "serial")
            let (values, running, most) = (
                [QueueSafeValue(value: 0), QueueSafeValue(value: 0)], Protected(0), Protected(0)
            )
            schedule.thread("a") {
                for value in values {
                    value.async(performIn: queue).lowestPriority.set { value in
                        dispatchPrecondition(condition: .onQueue(queue))
                        running.wrappedValue += 1
                        most.write { $0 = max($0, running.wrappedValue) }
                        running.wrappedValue -= 1
                        value += 1
                    }
                }
            }
            schedule.check("one at a time") { most.wrappedValue == 1 }
        }
    }

    @Test("What the schedule does not see is named")
    func unseen() throws {
        let sleep = try failure { $0.task("a") { try await Task.sleep(nanoseconds: 50_000_000) } }
        let beginning = "Something outside resumes a (schedules do not see the main actor"
        #expect(sleep.description.hasPrefix(beginning))
        let semaphore = DispatchSemaphore(value: 0)
        let blocked = try failure { $0.thread("a") { semaphore.wait() } }
        #expect(blocked.description.hasPrefix("a runs or is blocked for 4 s"))
        semaphore.signal()
        let loop = try failure { schedule in
            let isOver = Protected(false)
            schedule.thread("a") { while !isOver.wrappedValue {} }
        }
        #expect(loop.description.hasPrefix("no end after 5000 steps"))
        let block = try failure { schedule in
            let value = QueueSafeValue(value: 0)
            schedule.thread("a") {
                value.wait.lowestPriority.set { _, done in
                    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { done() }
                }
            }
        }
        #expect(block.description.hasPrefix("A thread outside "))
    }

    @Test("A crash prints the schedule before it")
    func crash() async throws {
        let result = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try everySchedule { schedule in
                    let list = Protected([1])
                    for name in ["a", "b"] {
                        schedule.thread(name) { if !list.isEmpty { list.write { _ = $0.removeFirst() } } }
                    }
                }
            }
        )
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("everySchedule: a crash in this schedule, replay it with everySchedule(replaying: \""))
        #expect(text.contains("  b  access to Protected<Array<Int>>"))
    }

    @Test("Three threads with four accesses each")
    func speed() throws {
        let start = Date()
        let result = try everySchedule { add($0, threads: 3, accesses: 4) }
        print("three threads, four accesses: \(result), \(Int(Date().timeIntervalSince(start) * 1_000)) ms")
        #expect(result.extent == .changes(2))
    }
}
#else
@Suite("Without the trait")
struct WithoutTraitTests {
    @Test("It is an error that says what to do, and no pass")
    func error() throws {
        let failure = try #require(throws: ScheduleFailure.self) { try everySchedule { _ in } }
        #expect(failure.description.contains("traits: [\"EverySchedule\"]"))
    }
}
#endif
