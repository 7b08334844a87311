//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CMachine
import Foundation
import Workloads

/// Everything that was measured, and how it reads.
struct Report {
    let effort: Effort
    var contests: [(title: String, cells: Cells)] = []
    var longestWaits: [LongestWait] = []
    var latencies: [Latency] = []
    var pending: [Pending] = []
    var manyTargets: ManyTargets?
    private let loadAtStart = machine_load()

    init(effort: Effort) {
        self.effort = effort
    }
}

extension Report {
    var markdown: String {
        var parts = ["# Speed", conditions, table(of: Goal.all, withAll: true)]
        for (title, cells) in contests { parts.append(table(of: cells, title)) }
        if !longestWaits.isEmpty { parts.append(longestWaitTable) }
        if !latencies.isEmpty { parts.append(latencyTable) }
        if !pending.isEmpty { parts.append(pendingTable) }
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// Writes the report, the part of it for the README, and the chart.
    func write(to folder: URL) throws {
        let summary = table(of: Goal.all.filter(\.isInSummary), withAll: false)
        let files = [
            "results.md": markdown,
            "summary.md": "\(Machine.description), \(Machine.date).\n\n\(summary)\n",
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
        (\(effort.sharedRoundTime / 1_000_000) ms where threads share a core, or work comes in batches; of 64 threads \
        \(effort.multitudeRounds) of \(effort.multitudeRoundTime / 1_000_000) ms), one after the other in each round; each \
        number is the median of the rounds, each ratio the median of the ratios of the rounds, with the middle half of \
        them in brackets. A time is that of all threads together, divided by the operations of all, while all of them \
        are at it. A round of threads that have a core each is repeated if something else ran there, up to \
        \(effort.attempts - 1) times. A value is a member of a final class, used once in a method that is not \
        inlined, in another module than the loop that calls it. The processor time is that of all threads of the process.
        """
    }

    // With all, also what is no contest.
    private func table(of goals: [Goal], withAll: Bool) -> String {
        var rows = goals.compactMap(row)
        if withAll { rows += absoluteRows }
        return table(["cell", "ours", "peer", "peer's", "ratio", "at most", "reached"], rows)
    }

    private func row(of goal: Goal) -> [String]? {
        guard let cells = contests.first(where: { $0.title == goal.title })?.cells, cells.have(goal.ours),
            goal.peers.allSatisfy(cells.have)
        else { return nil }
        let ratio = cells.ratio(of: goal.ours, toBestOf: goal.peers, goal.measure)
        let place = goal.title.split(separator: ", ", maxSplits: 1)
        // What is done is plain from the contestant's name, unless it is held.
        let what = goal.title.hasPrefix("held") ? goal.title : String(place[1])
        return [
            "`\(goal.ours)`, \(what)\(goal.measure == .processorTime ? ", processor time" : "")",
            cells.time(of: goal.ours, goal.measure).time,
            goal.peers.count > 1 ? "best of \(goal.peers.joined(separator: " and "))" : goal.peers[0],
            cells.bestTime(of: goal.peers, goal.measure).time,
            ratio.description, goal.atMost.ratio, reached(ratio.median <= goal.atMost),
        ]
    }

    private var absoluteRows: [[String]] {
        var rows = longestWaits.filter(\.isOurs).map { wait in
            [
                "`\(wait.name)`, longest wait of one access, 64 threads", wait.times.median.time, "", "", "",
                Goal.longestWait.time, reached(wait.times.median <= Goal.longestWait),
            ]
        }
        if let manyTargets {
            let ratio = manyTargets.ratio
            rows.append([
                "a command beside 10,000 target queues", manyTargets.all.median.time,
                "beside one", manyTargets.one.median.time,
                ratio.description, Goal.manyTargets.ratio, reached(ratio.median <= Goal.manyTargets),
            ])
        }
        if let ours = pending.first(where: \.isOurs) {
            let ratio = ours.ratio
            let bytes = ours.bytesOfMany
            rows.append([
                "a pending command, of 1,000,000", ours.many.map(\.time).median.time,
                "the same, of 1,000", ours.few.map(\.time).median.time,
                ratio.description, Goal.pendingTime.ratio, reached(ratio.median <= Goal.pendingTime),
            ])
            rows.append([
                "… and its memory", "\(Int(bytes.rounded())) bytes", "", "", "", "\(Int(Goal.pendingBytes)) bytes",
                reached(bytes <= Goal.pendingBytes),
            ])
        }
        return rows
    }

    private func reached(_ isReached: Bool) -> String {
        isReached ? "yes" : "**no**"
    }

    private func table(of cells: Cells, _ title: String) -> String {
        // Beside the peers whose loss or gain says most.
        let peers = [
            "Mutex", "NIOLockedValueBox", "DispatchQueue.sync", "DispatchQueue.async + lock",
            "DispatchQueue.async + lock, completion", "actor",
        ].filter(cells.have)
        // The debug build does not tell it.
        let haveProcessorTimes = !cells.processorTimes[0].isEmpty
        let rows = cells.contestants.map { contestant in
            [contestant.isOurs ? "**\(contestant.name)**" : contestant.name, cells.time(of: contestant.name).time]
                + (haveProcessorTimes ? [cells.time(of: contestant.name, .processorTime).time] : [])
                + peers.map { cells.ratio(of: contestant.name, toBestOf: [$0]).description }
        }
        let heads = ["", "an operation"] + (haveProcessorTimes ? ["processor time"] : [])
        let disturbed =
            cells.disturbedRounds == 0
            ? "" : "\n\n\(cells.disturbedRounds) of \(cells.rounds) rounds shared a core with something else."
        return "## \(title)\n\n" + table(heads + peers.map { "to \($0)" }, rows) + disturbed
    }

    private var longestWaitTable: String {
        "## longest wait of one access, 64 threads that hold the value for 1 µs each\n\n"
            + table(
                ["", "median of the rounds", "longest"],
                longestWaits.map { wait in
                    [
                        wait.isOurs ? "**\(wait.name)**" : wait.name,
                        wait.times.median.time, wait.times.quantile(1).time,
                    ]
                }
            )
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
