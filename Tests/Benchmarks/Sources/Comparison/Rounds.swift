//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CMachine
import Dispatch
import Foundation
import Synchronization
import Workloads

/// How much to measure.
struct Effort {
    var rounds: Int
    var latencies: Int
    /// Of pictures and longest waits.
    var growthRounds: Int
    /// How long a round is for threads that have a core each, and for those that share one, in nanoseconds.
    var roundTime: UInt64
    var sharedRoundTime: UInt64
    /// Rounds of so many threads that each runs seldom: longer, and fewer.
    var multitudeRounds: Int
    var multitudeRoundTime: UInt64
    var longestWaitTime: UInt64

    static let full = Effort(
        rounds: 21,
        latencies: 100,
        growthRounds: 5,
        roundTime: 10_000_000,
        sharedRoundTime: 30_000_000,
        multitudeRounds: 7,
        multitudeRoundTime: 150_000_000,
        longestWaitTime: 500_000_000
    )
    static let quick = Effort(
        rounds: 5,
        latencies: 10,
        growthRounds: 1,
        roundTime: 6_000_000,
        sharedRoundTime: 20_000_000,
        multitudeRounds: 2,
        multitudeRoundTime: 50_000_000,
        longestWaitTime: 200_000_000
    )

    func rounds(in setting: Setting) -> Int {
        setting.threads > 8 ? multitudeRounds : rounds
    }

    func roundTime(of contestant: Contestant, in setting: Setting) -> UInt64 {
        if setting.threads > 8 { return multitudeRoundTime }
        // Several batches must fit in.
        return setting.sharesCores || contestant.batch != nil ? sharedRoundTime : roundTime
    }

    /// How often a round is tried again because something else ran on a core of its threads.
    let attempts = 2
}

extension Cells {
    /// Lets the contestants do their work one after the other, round by round: what disturbs one disturbs all.
    init(of contestants: [Contestant], in setting: Setting, _ effort: Effort) {
        self.init(contestants: contestants)
        // The first round warms up.
        for round in 0...effort.rounds(in: setting) {
            for place in contestants.indices {
                // Nobody is always first, or always after the same one.
                let index = (place + round) % contestants.count
                let time = contestants[index].round(in: setting, effort)
                guard round > 0 else { continue }
                times[index].append(time.nanosecondsPerOperation)
                processorTimes[index].append(time.processorNanosecondsPerOperation)
                rounds += 1
                if time.isDisturbed { disturbedRounds += 1 }
            }
        }
    }
}

/// How fast all threads together were.
struct Time {
    var nanosecondsPerOperation: Double
    /// What all threads of the process took, those of queues and tasks too.
    var processorNanosecondsPerOperation: Double
    /// Whether a thread that should have had a core for itself had to share it.
    var isDisturbed: Bool
}

extension Contestant {
    func round(in setting: Setting, _ effort: Effort) -> Time {
        var time = attempt(in: setting, for: effort.roundTime(of: self, in: setting))
        for _ in 1..<effort.attempts where time.isDisturbed {
            time = attempt(in: setting, for: effort.roundTime(of: self, in: setting))
        }
        return time
    }

    private func attempt(in setting: Setting, for time: UInt64) -> Time {
        let round = prepare(setting)
        let stillCounting = Atomic(setting.threads)
        let processorTime = machine_processor_time()
        let shares = onThreads(in: setting) { start in
            let window = Window(start: start + time / 6, end: start + time)
            return share(of: round, in: window) { isThrough in
                if isThrough { stillCounting.subtract(1, ordering: .relaxed) }
                return stillCounting.load(ordering: .relaxed) > 0
            }
        }
        let processorTimeTaken = machine_processor_time() - processorTime
        let operations = shares.map(\.operations).reduce(0, +)
        if let changes = round.changes {
            precondition(changes() == operations, "\(name) lost changes: \(changes()) of \(operations).")
        }
        return Time(
            nanosecondsPerOperation: Double(time - time / 6) / shares.map(\.counted).reduce(0, +),
            processorNanosecondsPerOperation: Double(processorTimeTaken) / Double(operations),
            isDisturbed: !setting.sharesCores && shares.contains { $0.preemptions > 0 }
        )
    }

    /// What one thread does in a round. Only what falls into the window counts: before it not all threads are there.
    ///
    /// - Parameters:
    ///   - round: what to do.
    ///   - window: when it counts.
    ///   - goesOn: told once that this thread is through, and then asked whether some are not. A thread that is through
    ///     goes on until all are: the others would be far faster without it.
    /// - Returns: what it has done.
    private func share(of round: Round, in window: Window, _ goesOn: (_ isThrough: Bool) -> Bool) -> Share {
        var share = Share()
        var batch = self.batch ?? 8
        var isThrough = false
        var preemptions: UInt64?
        var now = nanoseconds()
        while !isThrough || goesOn(false) {
            let before = now
            round.run(batch)
            now = nanoseconds()
            share.operations += batch
            share.counted += Double(batch) * window.part(from: before, to: now)
            if preemptions == nil, now >= window.start { preemptions = machine_preemptions() }
            if !isThrough, now >= window.end {
                share.preemptions = machine_preemptions() - preemptions!
                isThrough = true
                _ = goesOn(true)
            }
            // Short enough to look at the clock in time, long enough for the clock not to matter.
            if self.batch == nil, now - before < 5_000 { batch *= 2 }
            if self.batch == nil, now - before > 100_000, batch > 8 { batch /= 2 }
        }
        return share
    }
}

private struct Share: Sendable {
    var operations = 0
    var counted = 0.0
    var preemptions: UInt64 = 0
}

/// The part of a round that counts.
private struct Window {
    let start: UInt64
    let end: UInt64

    /// How much of a time is in the window.
    func part(from begin: UInt64, to finish: UInt64) -> Double {
        let inside = min(finish, end).subtractingReportingOverflow(max(begin, start))
        return inside.overflow ? 0 : Double(inside.partialValue) / Double(max(finish - begin, 1))
    }
}

/// The monotonic clock.
func nanoseconds() -> UInt64 {
    DispatchTime.now().uptimeNanoseconds
}

/// Runs `body` on the threads of a setting, each on its core, from the same moment on.
func onThreads<Answer: Sendable>(
    in setting: Setting,
    _ body: @escaping @Sendable (_ start: UInt64) -> Answer
) -> [Answer] {
    let gate = Gate<Answer>(count: setting.threads)
    for index in 0..<setting.threads {
        Thread {
            setting.placeThread(index)
            let start = gate.pass()
            gate.leave(with: body(start))
        }.start()
    }
    return gate.answers()
}

/// Where threads wait until all are there, and bring their answers.
private final class Gate<Answer: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    // All guarded by `condition`.
    private let count: Int
    private var arrived = 0
    private var start: UInt64 = 0
    private var left: [Answer] = []

    init(count: Int) {
        self.count = count
    }

    /// Returns when all have come, with the time of that.
    func pass() -> UInt64 {
        condition.lock()
        defer { condition.unlock() }
        arrived += 1
        if arrived == count {
            start = nanoseconds()
            condition.broadcast()
        }
        while arrived < count { condition.wait() }
        return start
    }

    func leave(with answer: Answer) {
        condition.lock()
        defer { condition.unlock() }
        left.append(answer)
        if left.count == count { condition.broadcast() }
    }

    func answers() -> [Answer] {
        condition.lock()
        defer { condition.unlock() }
        while left.count < count { condition.wait() }
        return left
    }
}
