//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Workloads

/// Measures everything and prints a report.
///
///     Comparison [--quick] [--only TEXT] [--contestants TEXT] [--write FOLDER]
///
/// `--only` restricts it to the parts whose name has the text in it, `--contestants` to the contestants: for a
/// profiler, say. `--write` also writes the report of everything to files.
@main
struct Comparison {
    static func main() throws {
        let effort: Effort = CommandLine.arguments.contains("--quick") ? .quick : .full
        // The C library has short cuts for a process of one thread, which nobody who needs a lock is.
        Thread { while true { sleep(1_000) } }.start()

        var report = Report(effort: effort)
        report.contests = measured(Contest.all, effort)
        if isWanted("longest wait") { report.longestWaits = LongestWait.measure(effort) }
        if isWanted("latency") { report.latencies = Latency.measure(effort) }
        if isWanted("pending") { report.pendingBytes = Pending.bytes }
        for growth in Growth.all(effort) where isWanted(growth.file) {
            report.growths.append(growth.measured(rounds: effort.growthRounds))
        }
        report.realContests = measured(Contest.realCode, effort)
        for growth in Growth.realCode where isWanted(growth.file) {
            report.realGrowths.append(growth.measured(rounds: effort.growthRounds))
        }
        print(report.markdown)
        if let folder = argument("--write") { try report.write(to: URL(fileURLWithPath: folder)) }
    }

    private static func measured(_ contests: [Contest], _ effort: Effort) -> [(title: String, cells: Cells)] {
        contests.flatMap { contest in
            let contestants = contest.contestants.filter { has($0.name, argument("--contestants")) }
            return contest.settings.map { (contest.title(in: $0), $0) }.filter { isWanted($0.0) }
                .map { title, setting in (title, Cells(of: contestants, in: setting, effort)) }
        }
    }

    private static func argument(_ name: String) -> String? {
        CommandLine.arguments.firstIndex(of: name).map { CommandLine.arguments[$0 + 1] }
    }

    private static func has(_ name: String, _ text: String?) -> Bool {
        text.map { name.contains($0) } ?? true
    }

    private static func isWanted(_ part: String) -> Bool {
        guard has(part, argument("--only")) else { return false }
        FileHandle.standardError.write(Data("Measuring \(part) …\n".utf8))
        return true
    }
}
