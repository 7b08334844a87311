//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// How often chance finds each fault: real threads, started together, in 10,000 rounds. Chance [NUMBER [ROUNDS]]

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

    /// Whether the fault showed.
    func isWrong() -> Bool {
        let gate = Gate(threads.count)
        for thread in threads {
            all.enter()
            Thread.detachNewThread {
                gate.pass()
                thread()
                self.all.leave()
            }
        }
        if all.wait(timeout: .now() + .milliseconds(500)) == .timedOut { return true }
        // What queues still have to do.
        let queues = DispatchGroup()
        DispatchQueue.global().async(group: queues) {}
        queues.wait()
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

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let rounds = arguments.dropFirst().first ?? 10_000
for (index, fault) in Fault.all.enumerated() where arguments.isEmpty || arguments[0] == index {
    var (found, round) = (0, 0)
    // A hang keeps its threads.
    let start = Date()
    while round < rounds, Date().timeIntervalSince(start) < 30 {
        round += 1
        let stage = Round()
        fault.scene(stage, true)
        if stage.isWrong() { found += 1 }
    }
    print("\(index)  \(fault): \(found) of \(round) rounds")
}
