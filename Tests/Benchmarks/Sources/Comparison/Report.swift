//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CMachine
import Foundation
import Workloads

/// Everything that was measured, and how it reads.
struct Report {
    let effort: Effort
    var contests: [(contest: Contest, setting: Setting, cells: Cells)] = []
    var latencies: [Latency] = []
    var pending: [Pending] = []
    private let loadAtStart = machine_load()

    init(effort: Effort) {
        self.effort = effort
    }
}

extension Report {
    var markdown: String {
        var parts = ["# Speed", conditions, goalsTable]
        for (contest, setting, cells) in contests { parts.append(table(of: cells, "\(contest.name), \(setting.name)")) }
        if !latencies.isEmpty { parts.append(latencyTable) }
        if !pending.isEmpty { parts.append(pendingTable) }
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// Writes the report, the part of it for the README, and the chart.
    func write(to folder: URL) throws {
        let files = [
            "results.md": markdown,
            "summary.md": "\(Machine.description), \(Machine.date).\n\n\(goalsTable)\n",
            "chart.svg": Chart(self).svg,
        ]
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in files {
            try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
        }
    }

    private var conditions: String {
        """
        \(Machine.description), \(Machine.date). Load of the machine: \(loadAtStart.short) before, \(machine_load().short) \
        after. \(effort.rounds) rounds of \(effort.roundTime / 1_000_000) ms for each contestant \
        (\(effort.sharedRoundTime / 1_000_000) ms where threads share a core, or work comes in batches), one after the other in each round; each \
        number is the median of the rounds, each ratio the median of the ratios of the rounds, with the middle half of \
        them in brackets. A time is that of all threads together, divided by the operations of all, while all of them \
        are at it. A round of threads that have a core each is repeated if something else ran there, up to \
        \(effort.attempts - 1) times.
        """
    }

    /// The cells with a goal.
    var goalsTable: String {
        var rows = Goal.all.compactMap { goal -> [String]? in
            guard let cells = cells(of: goal.contest, goal.setting), cells.have(goal.ours), cells.have(goal.peer) else {
                return nil
            }
            let ratio = cells.ratio(of: goal.ours, to: goal.peer)
            return [
                "`\(goal.ours)`, \(goal.setting.name)", cells.time(of: goal.ours).time,
                goal.peer, cells.time(of: goal.peer).time,
                ratio.description, goal.atMost.ratio, ratio.median <= goal.atMost ? "yes" : "**no**",
            ]
        }
        if let ours = pending.first(where: \.isOurs) {
            let ratio = ours.ratio
            let bytes = ours.bytesOfMany
            rows.append([
                "a pending command, of 1,000,000", ours.many.map(\.time).median.time,
                "the same, of 1,000", ours.few.map(\.time).median.time,
                ratio.description, Goal.pendingTime.ratio, ratio.median <= Goal.pendingTime ? "yes" : "**no**",
            ])
            rows.append([
                "… and its memory", "\(Int(bytes.rounded())) bytes", "", "", "", "\(Int(Goal.pendingBytes)) bytes",
                bytes <= Goal.pendingBytes ? "yes" : "**no**",
            ])
        }
        return table(["cell", "ours", "peer", "peer's", "ratio", "at most", "reached"], rows)
    }

    private func cells(of contest: Contest, _ setting: Setting) -> Cells? {
        contests.first { $0.contest.name == contest.name && $0.setting == setting }?.cells
    }

    private func table(of cells: Cells, _ title: String) -> String {
        // Beside the peers whose loss or gain says most.
        let peers = ["Mutex", "NIOLockedValueBox", "DispatchQueue.sync", "DispatchQueue.async + lock"]
            .filter(cells.have)
        let rows = cells.contestants.map { contestant in
            [contestant.isOurs ? "**\(contestant.name)**" : contestant.name, cells.time(of: contestant.name).time]
                + peers.map { cells.ratio(of: contestant.name, to: $0).description }
        }
        let disturbed =
            cells.disturbedRounds == 0
            ? "" : "\n\n\(cells.disturbedRounds) of \(cells.rounds) rounds shared a core with something else."
        return "## \(title)\n\n" + table(["", "an operation"] + peers.map { "to \($0)" }, rows) + disturbed
    }

    private var latencyTable: String {
        "## latency of an urgent command before a backlog of 10,000\n\n"
            + table(
                ["", "p50", "p99"],
                latencies.map { latency in
                    [
                        latency.isOurs ? "**\(latency.name)**" : latency.name,
                        latency.times.median.time, latency.times.quantile(0.99).time,
                    ]
                }
            )
    }

    private var pendingTable: String {
        "## a pending command\n\n"
            + table(
                ["", "pending", "submitting it", "carrying it out", "bytes"],
                pending.flatMap { pending in
                    [
                        ("1,000", pending.few, pending.bytesOfFew), ("1,000,000", pending.many, pending.bytesOfMany),
                    ].map { count, costs, bytes in
                        [
                            pending.isOurs ? "**\(pending.name)**" : pending.name, count,
                            costs.map(\.submitting).median.time, costs.map(\.carryingOut).median.time,
                            "\(Int(bytes.rounded()))",
                        ]
                    }
                }
            )
    }

    private func table(_ heads: [String], _ rows: [[String]]) -> String {
        // Padded, so that it can be read as it is.
        let widths = heads.indices.map { column in ([heads] + rows).map { $0[column].count }.max()! }
        let lines = ([heads] + rows).map { row in
            "| "
                + zip(row, widths).map { text, width in text + String(repeating: " ", count: width - text.count) }
                .joined(separator: " | ") + " |"
        }
        let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
        return ([lines[0], rule] + lines[1...]).joined(separator: "\n")
    }
}
