//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Workloads

/// The same package in a debug build, which the release build runs and asks for its times.
enum DebugBuild {
    private static let contest = Contest.changes
    private static let setting = Setting.alone
    private static let contestants = contest.contestants.filter { ["Protected.write", "Mutex"].contains($0.name) }

    /// What the debug build prints: the times of each contestant, round by round, in a line.
    static func printTimes(_ effort: Effort) {
        for times in Cells(of: contestants, in: setting, effort).times {
            print(times.map(\.description).joined(separator: " "))
        }
    }

    /// Runs a debug build.
    static func cells(of program: URL, _ arguments: [String]) throws -> Cells {
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        var cells = Cells(contestants: contestants)
        cells.times = text.split(separator: "\n").map { line in line.split(separator: " ").map { Double($0)! } }
        precondition(cells.times.count == contestants.count, "The debug build has printed:\n\(text)")
        return cells
    }
}
