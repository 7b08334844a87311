//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

/// A turn is kept for a queue that does not start for no longer than this at first. What passes another command after a
/// shorter time than that has no excuse; what passes it later may have one, and is not counted.
private let excuse: UInt64 = 4_000_000

@Suite("Order: a newcomer barges past its equals only, and only for a while")
struct BargingTests {
    @Test("A newcomer barges past its equal also when it has submitted commands before, which are done")
    func ownCommandsAreDone() throws {
        let answers = try inTime {
            try (0..<8).map { round in
                let value = QueueSafeValue(value: 0, policy: Self.policy(barging: 600_000_000_000))
                value.async(performIn: .utility).lowestPriority.set { $0 += 1 }
                try poll("its command is done") {
                    value.pendingCommandCount == 0 && value.wait.lowestPriority.get() == .success(1)
                }
                let front = Front(value, onThread: round)
                defer { front.leave() }
                return value.wait(timeout: .seconds(0)).lowestPriority.get()
            }
        }
        #expect(answers.contains(.success(1)))
    }

    @Test("So it does when that came before its own were done")
    func ownCommandsAreDoneLater() throws {
        let answers = try inTime {
            try (0..<8).map { round in
                let value = QueueSafeValue(value: 0, policy: Self.policy(barging: 600_000_000_000))
                value.suspend()
                value.async(performIn: .utility).lowestPriority.set { $0 += 1 }
                let front = Front(value, onThread: round)
                defer { front.leave() }
                value.resume()
                try poll("its command is done") { value.pendingCommandCount == 1 }
                return value.wait(timeout: .seconds(0)).lowestPriority.get()
            }
        }
        #expect(answers.contains(.success(1)))
    }

    @Test("So it does when its own are less urgent")
    func ownCommandsAreLessUrgent() throws {
        let answers = try inTime {
            (0..<8).map { round in
                let value = QueueSafeValue(value: 0, policy: Self.policy(barging: 600_000_000_000))
                let front = Front(value, onThread: round, .medium)
                defer { front.leave() }
                let handle = value.async(performIn: front.queue).lowestPriority.set { $0 += 1 }
                defer { handle.cancel() }
                return value.wait(timeout: .seconds(0)).mediumPriority.get()
            }
        }
        #expect(answers.contains(.success(0)))
    }

    /// What is known of several values stands in one place. The later commands for the others have earlier times: in a
    /// backlog the clock is not asked.
    @Test("What it has submitted to other values makes it forget none of its own")
    func commandsForOtherValues() throws {
        let answers = try inTime {
            (0..<8).map { round in
                let value = QueueSafeValue(value: 0, policy: Self.policy(barging: 600_000_000_000))
                let others = (0..<64).map { _ in QueueSafeValue(value: 0) }
                func submitToOthers() {
                    for other in others { other.async(performIn: .utility).lowestPriority.set { $0 += 1 } }
                }
                for other in others { other.suspend() }
                submitToOthers()
                let front = Front(value, onThread: round)
                defer { front.leave() }
                let handle = value.async(performIn: front.queue).lowestPriority.set { $0 += 1 }
                defer { handle.cancel() }
                submitToOthers()
                return value.wait(timeout: .seconds(0)).lowestPriority.get()
            }
        }
        #expect(answers.allSatisfy { $0 == .failure(.timedOut) }, "\(answers)")
    }

    /// The threads live on until all are through: a new thread may have the number of one that has ended.
    @Test("Nor do the commands of many others keep it from that")
    func commandsOfOthers() throws {
        let (submitters, newcomers) = (64, 8)
        let answers = try inTime {
            let value = QueueSafeValue(value: 0, policy: Self.policy(barging: 600_000_000_000))
            let front = Front(value, onThread: 0)
            defer { front.leave() }
            let (answers, isAlone) = (Log<Result<Int, QueueSafeValueError>>(), NSLock())
            onThreads(submitters + newcomers) { index in
                if index < submitters {
                    let handle = value.async(performIn: front.queue).lowestPriority.set { $0 += 10 }
                    try? poll("all newcomers have come") { answers.count == newcomers }
                    handle.cancel()
                } else {
                    try? poll("all have submitted") { value.pendingCommandCount == submitters + 1 }
                    isAlone.withLock { answers.add(value.wait(timeout: .seconds(0)).lowestPriority.get()) }
                }
            }
            return answers.entries
        }
        // One in a hundred shares a word with somebody.
        #expect(answers.count { $0 == .success(0) } > newcomers / 2, "\(answers)")
    }

    @Test("It never barges past a more urgent one, at once or by the end of its time-out")
    func moreUrgent() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0, policy: Self.policy(barging: 600_000_000_000))
            let queue = DispatchQueue(label: "suspended")
            queue.suspend()
            defer { queue.resume() }
            let handle = value.async(performIn: queue).highestPriority.set { $0 += 10 }
            defer { handle.cancel() }
            return [0, 50].map { value.wait(timeout: .milliseconds($0)).lowestPriority.get() }
        }
        #expect(answers == [.failure(.timedOut), .failure(.timedOut)])
    }

    @Test("It barges until the deadline of its equal, also when that of one that waited before was over")
    func deadlineOfAnother() throws {
        let answers = try inTime {
            (0..<8).map { round in
                let value = QueueSafeValue(value: 0, policy: Self.policy(barging: 50_000_000))
                let first = Front(value, onThread: round)
                usleep(60_000)
                let late = value.wait(timeout: .seconds(0)).lowestPriority.get()
                first.leave()
                let second = Front(value, onThread: round)
                defer { second.leave() }
                return [late, value.wait(timeout: .seconds(0)).lowestPriority.get()]
            }
        }
        #expect(answers.allSatisfy { $0[0] == .failure(.timedOut) })
        #expect(answers.contains { $0[1] == .success(0) })
    }

    private static func policy(barging: UInt64) -> HandoffPolicy {
        var policy = HandoffPolicy.unbounded
        policy.barging = barging
        return policy
    }

    /// A lowest command that does not begin before it leaves.
    ///
    /// It is the successor, for a queue that stands still, so the turn is free for as long as the test takes. When a
    /// thread has submitted last stands in one of many words: a newcomer that shares its word with another thread may not
    /// barge, so each is tried with others in turn.
    private struct Front {
        let queue = DispatchQueue(label: "suspended")
        private let handle: CommandHandle

        /// - Parameters:
        ///   - value: the value.
        ///   - number: which of several threads that run at once submits it.
        ///   - priority: how urgent it is, if it is not a lowest command.
        init(_ value: QueueSafeValue<Int>, onThread number: Int, _ priority: CommandPriority = .lowest) {
            queue.suspend()
            let handles = Log<CommandHandle>()
            let queue = queue
            onThreads(number + 1) { index in
                guard index == number else { return }
                handles.add(value.async(performIn: queue).priority(priority).set { $0 += 10 })
            }
            handle = handles.entries[0]
        }

        func leave() {
            handle.cancel()
            queue.resume()
        }
    }

    /// A loop awaits each change, so a run of commands is broken off after each of them, to tell it. A thread tries
    /// lowest commands all the time, which only look and never stand in line, from the moment that the first of the
    /// highest has begun, when all of these are accepted.
    @Test("It doesn't go before more urgent ones in the moment when they are interrupted to tell a loop of a change")
    func whileALoopIsTold() async throws {
        let value = QueueSafeValue(value: Run())
        let changes = value.changes
        let loop = OwnThreads.run {
            for await _ in changes {}
        }
        let passes = try await onThreadOfItsOwn {
            try inTime {
                let queue = DispatchQueue(label: "target")
                let isOver = Protected(false)
                let hasBegun = Protected(false)
                let newcomer = RunningThread {
                    while !isOver.wrappedValue {
                        guard hasBegun.wrappedValue else { continue }
                        value.wait(timeout: .seconds(0)).lowestPriority.set { $0.pass() }
                    }
                }
                for _ in 0..<3_000 {
                    let group = DispatchGroup()
                    value.suspend()
                    for index in 0..<4 {
                        group.enter()
                        value.async(performIn: queue).highestPriority.set { run in
                            if index == 0 { run.begin(4) }
                            run.goOn()
                            if index == 0 { hasBegun.wrappedValue = true }
                            if index == 3 { hasBegun.wrappedValue = false }
                            group.leave()
                        }
                    }
                    value.resume()
                    group.wait()
                }
                isOver.wrappedValue = true
                newcomer.join()
                return try value.wait.lowestPriority.get().get().passes
            }
        }
        loop.cancel()
        #expect(passes == 0)
    }

    /// What has happened to a run of commands, noted by those who have the turn.
    private struct Run {
        private var missing = 0
        private var last: UInt64 = 0
        private(set) var passes = 0

        mutating func begin(_ count: Int) {
            missing = count
        }

        mutating func goOn() {
            missing -= 1
            last = nanoseconds()
        }

        mutating func pass() {
            if missing > 0, nanoseconds() < last + excuse { passes += 1 }
        }
    }

    /// Eight threads keep the processors busy, so who gives its processor away gets it back after milliseconds. Two use
    /// the value all the time, and each try begins when one of these has just got the turn. What was called a
    /// millisecond after the highest, and yet went before it, found it not in line. A thread may lose the processor
    /// without its doing in the moment of the call, but not in one of five tries.
    @Test("A highest command is in line before its thread lets others run")
    func onBusyProcessors() throws {
        let (tries, lowest) = try inTime {
            let value = QueueSafeValue(value: 0)
            let isOver = Protected(false)
            let begun = Protected(0)
            let lowest = Log<[Times]>()
            let gate = StartGate(count: 11)
            let busy = (0..<8).map { _ in
                RunningThread {
                    gate.pass()
                    while !isOver.wrappedValue { spin(50_000) }
                }
            }
            let users = (0..<2).map { _ in
                RunningThread {
                    var all: [Times] = []
                    gate.pass()
                    while !isOver.wrappedValue {
                        var times = Times()
                        value.wait.lowestPriority.set { _ in
                            times.began = nanoseconds()
                            begun.write { $0 += 1 }
                            spin(200_000)
                        }
                        all.append(times)
                        spin(20_000)
                    }
                    lowest.add(all)
                }
            }
            gate.pass()
            var tries: [Times] = []
            for _ in 0..<60 {
                spin(500_000)
                let seen = begun.wrappedValue
                while begun.wrappedValue == seen {}
                var times = Times()
                value.wait.highestPriority.set { _ in times.began = nanoseconds() }
                tries.append(times)
            }
            isOver.wrappedValue = true
            for thread in busy + users { thread.join() }
            return (tries, lowest.entries.flatMap { $0 })
        }
        let passed = tries.filter { highest in
            lowest.contains { $0.called > highest.called + 1_000_000 && $0.began < highest.began }
        }
        #expect(passed.count <= 12, "Of \(tries.count), which began after \(passed.map { $0.began - $0.called }) ns")
    }
}

/// When a command was called, and when it began.
private struct Times {
    let called = nanoseconds()
    var began: UInt64 = 0
}
