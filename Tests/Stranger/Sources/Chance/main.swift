//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// How often chance finds each fault: real threads, started together, in 10,000 rounds. Chance [NUMBER ROUNDS]

import Dispatch
import Faults
import Foundation

/// One round.
final class Round: Stage, @unchecked Sendable {
    private var bodies: [@Sendable () async -> Void] = []
    private var threads: [@Sendable () -> Void] = []
    private var checks: [() throws -> Bool] = []
    private var tasks: [String: Task<Void, Never>] = [:]
    private let lock = NSLock()
    private let all = DispatchGroup()

    func thread<Result>(_ name: String, _ body: @escaping @Sendable () throws -> Result) {
        threads.append { _ = try? body() }
    }

    func task<Result>(_ name: String, _ body: @escaping @Sendable () async throws -> Result) {
        all.enter()
        let task = Task {
            _ = try? await body()
            all.leave()
        }
        lock.withLock { tasks[name] = task }
    }

    func cancel(_ name: String) { lock.withLock { tasks[name] }?.cancel() }

    func check(_ name: String, _ isTrue: @escaping @Sendable () throws -> Bool) { checks.append(isTrue) }

    func start() {
        let gate = Gate(threads.count)
        for thread in threads {
            all.enter()
            Thread.detachNewThread {
                gate.pass()
                thread()
                self.all.leave()
            }
        }
    }

    func isOver(by deadline: DispatchTime) -> Bool { all.wait(timeout: deadline) == .success }

    /// Whether the fault showed in a round that is over.
    func isWrong() -> Bool {
        // What queues still have to do.
        Thread.sleep(forTimeInterval: 0.000_5)
        return checks.contains { (try? $0()) != true }
    }
}

/// Opens when all are there, so that they start together.
final class Gate: @unchecked Sendable {
    private let condition = NSCondition()
    private var missing: Int

    init(_ count: Int) { missing = count }

    func pass() {
        condition.lock()
        missing -= 1
        if missing == 0 { condition.broadcast() }
        while missing > 0 { condition.wait() }
        condition.unlock()
    }
}

/// Runs rounds of a fault, and counts those in which it shows.
func count(_ fault: Fault, in rounds: Int) -> Int {
    var (found, open) = (0, [Round]())
    for _ in 0..<rounds {
        let round = Round()
        fault.scene(round, true)
        round.start()
        // What may hang, or waits for a time-out, is looked at again in the end.
        if !round.isOver(by: .now() + .milliseconds(20)) { open.append(round) } else if round.isWrong() { found += 1 }
    }
    let end = DispatchTime.now() + .seconds(2)
    for round in open where !round.isOver(by: end) || round.isWrong() { found += 1 }
    return found
}

/// Counts in a process of its own: hangs keep their threads, and a crash ends it, which counts once.
func countApart(_ index: Int, in rounds: Int) throws -> Int {
    let (process, output) = (Process(), Pipe())
    process.executableURL = Bundle.main.executableURL
    (process.arguments, process.standardOutput) = (["\(index)", "\(rounds)"], output)
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return Int(text.split(separator: "\n").last ?? "") ?? 1
}

let arguments = CommandLine.arguments.compactMap { Int($0) }
if arguments.count == 2 {
    print(count(Fault.all[arguments[0]], in: arguments[1]))
} else {
    for (index, fault) in Fault.all.enumerated() {
        let found = try (0..<40).map { _ in try countApart(index, in: 250) }.reduce(0, +)
        print("\(fault): \(found) of 10000 rounds")
    }
}
