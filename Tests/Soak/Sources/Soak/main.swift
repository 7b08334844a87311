//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import ThreadSafeValue

// Usage: Soak [seconds] [seed]
//
// Hammers values with commands of every kind for so long, in rounds of half a second, and checks all along: one command
// at a time, sums, order within a priority, one answer a command, no instance and no memory left. Exits with 1 on a
// violation.

let seconds = CommandLine.arguments.dropFirst().first.flatMap { Double($0) } ?? 10
let seed = CommandLine.arguments.dropFirst(2).first.flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
say("soak: \(Int(seconds)) s, seed \(seed)")

let findings = Findings()
var random = Random(seed: seed)
var memory: [Int] = []
let begin = Date()
var rounds = 0
while -begin.timeIntervalSinceNow < seconds {
    playRound(findings, &random)
    rounds += 1
    if let bytes = residentBytes() { memory.append(bytes) }
    if rounds.isMultiple(of: 60) {
        let (counts, violations) = findings.summary
        say("\(Int(-begin.timeIntervalSinceNow)) s: \(counts.total) commands, \(violations) violations")
    }
}
checkMemory(memory, findings)
let (counts, violations) = findings.summary
say("commands: \(counts.total) in \(rounds) rounds")
for place in Place.allCases { say("    \(place.rawValue): \(counts.commands[place] ?? 0)") }
say("faults injected: \(counts.faults.values.reduce(0, +))")
for fault in Fault.allCases { say("    \(fault.rawValue): \(counts.faults[fault] ?? 0)") }
say("violations: \(violations)")
exit(violations == 0 ? 0 : 1)

/// One round: values, those who use them, and the end of all.
func playRound(_ findings: Findings, _ random: inout Random) {
    let round = Round(findings, seconds: 0.5)
    let threads = DispatchGroup()
    let seeds = (0..<7).map { _ in random.next() }
    var values = round.makeValues()
    let register = QueueSafeValue(value: 0)
    for index in 0..<4 {
        start(in: threads) { [values] in
            var worker = Worker(index, round, values, register, seed: seeds[index])
            worker.run()
        }
    }
    start(in: threads) { [values] in
        var disturber = Disturber(round: round, values: values, random: Random(seed: seeds[4]))
        disturber.run()
    }
    for index in 5..<7 {
        threads.enter()
        Task { [values] in
            await TaskWorker(round: round, values: values, random: Random(seed: seeds[index])).run()
            threads.leave()
        }
    }
    guard threads.wait(timeout: .now() + 300) == .success else {
        say("VIOLATION: the workers hang")
        exit(2)
    }
    var counts = Counts()
    while let value = values.popLast() { round.release(value, values.count, &counts) }
    findings.add(counts)
    round.finish()
}

func start(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    Thread {
        body()
        group.leave()
    }.start()
}

/// The last third of the rounds must not use more memory than the first third, but for what an allocator needs.
func checkMemory(_ memory: [Int], _ findings: Findings) {
    let third = memory.count / 3
    guard third > 0, let early = memory[..<third].max(), let late = memory[(memory.count - third)...].min()
    else { return }
    func megabytes(_ bytes: Int) -> String { String(format: "%.1f MB", Double(bytes) / 1_048_576) }
    say(
        "memory: \(megabytes(memory[0])) after the first round, \(megabytes(early)) at most in the first third, "
            + "\(megabytes(late)) at least in the last, \(megabytes(memory[memory.count - 1])) at the end"
    )
    findings.require(late <= early + 8 << 20, "memory grew from \(megabytes(early)) to \(megabytes(late))")
}
