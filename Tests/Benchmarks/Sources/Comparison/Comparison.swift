//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Workloads

/// Measures everything and prints a report.
///
///     Comparison [--quick] [--only TEXT] [--contestants TEXT] [--debug-build PROGRAM] [--write FOLDER]
///
/// `--only` restricts it to the parts whose name has the text in it, `--contestants` to the contestants: for a
/// profiler, say. `--debug-build` is this program in a debug build. `--write` also writes the report to files.
@main
struct Comparison {
    static func main() throws {
        let effort: Effort = CommandLine.arguments.contains("--quick") ? .quick : .full
        // The C library has short cuts for a process of one thread, which nobody who needs a lock is.
        Thread { while true { sleep(1_000) } }.start()
        // What the debug build is asked for.
        if CommandLine.arguments.contains("--print-times") { return DebugBuild.printTimes(effort) }

        var report = Report(effort: effort)
        for contest in Contest.all {
            let contestants = contest.contestants.filter { has($0.name, argument("--contestants")) }
            for setting in contest.settings {
                let title = contest.title(in: setting)
                if isWanted(title) { report.contests.append((title, Cells(of: contestants, in: setting, effort))) }
            }
        }
        if let program = argument("--debug-build"), isWanted(Goal.debug) {
            let arguments = CommandLine.arguments.filter { $0 == "--quick" } + ["--print-times"]
            let cells = try DebugBuild.cells(of: URL(fileURLWithPath: program), arguments)
            report.contests.append((Goal.debug, cells))
        }
        if isWanted("longest wait") { report.longestWaits = LongestWait.measure(effort) }
        if isWanted("latency") { report.latencies = Latency.measure(effort) }
        if isWanted("pending") { report.pending = Pending.measure(effort) }
        if isWanted("targets") { report.manyTargets = ManyTargets.measure(effort) }
        print(report.markdown)
        if let folder = argument("--write") { try report.write(to: URL(fileURLWithPath: folder)) }
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
