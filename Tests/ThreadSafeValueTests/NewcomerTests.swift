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

@Suite("A newcomer does not go before more urgent commands that wait")
struct NewcomerTests {
    /// A loop awaits each change, so a run of commands is broken off after each of them, to tell it. A thread tries
    /// lowest commands all the time, which only look and never stand in line, from the moment that the first of the highest
    /// has begun, when all of these are accepted.
    @Test("Not in the moment when commands are interrupted to tell a loop of a change")
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

    /// Eight threads keep the processors busy, so who gives its processor away gets it back after milliseconds. Two use the
    /// value all the time, and each try begins when one of these has just got the turn. What was called a millisecond after
    /// the highest, and yet went before it, found it not in line. A thread may lose the processor without its doing in the
    /// moment of the call, but not in one of five tries.
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
