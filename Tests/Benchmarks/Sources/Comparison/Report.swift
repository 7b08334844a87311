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
    var pendingBytes: Double?
    var growths: [Growth] = []
    var realContests: [(title: String, cells: Cells)] = []
    var realGrowths: [Growth] = []
    private let loadAtStart = machine_load()

    init(effort: Effort) {
        self.effort = effort
    }
}

extension Report {
    var markdown: String {
        var parts = ["# Speed", conditions, goalTable]
        for (title, cells) in contests { parts.append(table(of: cells, title)) }
        if !longestWaits.isEmpty { parts.append(longestWaitTable) }
        if !latencies.isEmpty { parts.append(latencyTable) }
        if !growths.isEmpty { parts.append("## cost as work grows") }
        parts += growths.map(section)
        if !realContests.isEmpty || !realGrowths.isEmpty { parts.append("## as real code has it") }
        for (title, cells) in realContests { parts.append("#" + table(of: cells, title)) }
        parts += realGrowths.map(section)
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// Writes the report, its pictures, the cells of the last runs, and what the README shows of those.
    func write(to folder: URL) throws {
        var runs = Runs((try? String(contentsOf: folder.appendingPathComponent("runs.txt"), encoding: .utf8)) ?? "")
        runs.add(self)
        let summary = """
            \(Machine.date), two cores, [\(runs.lines.count) runs](Tests/Benchmarks/Report/runs.txt), \
            [all cells](Tests/Benchmarks/Report/results.md); median ratios; below 1, ours is faster:

            \(table(["", "ours", "peer", "ratio"], runs.rows))

            """
        var files = [
            "results.md": markdown, "summary.md": summary, "runs.txt": runs.lines.joined(separator: "\n") + "\n",
        ]
        for growth in growths + realGrowths { files["\(growth.file).svg"] = Chart(growth).svg }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in files {
            try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
        }
    }

    private var conditions: String {
        """
        \(Machine.description), \(Machine.date). Load of the machine: \(loadAtStart.short) before, \(machine_load().short) \
        after. \(effort.rounds) rounds of \(effort.roundTime / 1_000_000) ms for each contestant \
        (\(effort.sharedRoundTime / 1_000_000) ms where threads may share a core, or work comes in batches; of 64 threads \
        \(effort.multitudeRounds) of \(effort.multitudeRoundTime / 1_000_000) ms), one after the other in each round; each \
        time is the median of the rounds, each ratio the median of the ratios of the rounds, with the middle half of \
        them in brackets. Pinned threads have a core each or share two; others are left to the system. A time is that of all threads together, divided by the operations of all, while all of them \
        are at it. A round of threads that have a core each is tried up to \
        \(effort.attempts) times if something else ran there. A value is a member of a final class, used once in a method that is not \
        inlined, in another module than the loop that calls it. The processor time is that of all threads of the process.
        """
    }

    /// What a contest gave that was held for a cell.
    func cells(of cell: Cell) -> Cells? {
        (contests + realContests).first { $0.title == cell.title }?.cells
    }

    private var goalTable: String {
        table(
            ["cell", "placement", "ours", "peer", "peer's", "ratio", "at most", "reached"],
            Goal.all.compactMap(row) + longestWaitRows + growthRows + memoryRows
        )
    }

    private func row(of goal: Goal) -> [String]? {
        let cell = goal.cell
        guard let cells = cells(of: cell), cells.have(cell.ours), cell.peers.allSatisfy(cells.have) else { return nil }
        let ratio = cells.ratio(of: cell.ours, toBestOf: cell.peers, cell.measure)
        // What is done is plain from the contestant's name, unless it is held, or real code.
        let isPlain = Contest.all.contains { $0.name == cell.contest.name } && !cell.contest.name.hasPrefix("held")
        let what = isPlain ? "" : "\(cell.contest.name), "
        return [
            "`\(cell.ours)`, \(what)\(cell.setting.name)\(cell.measure == .processorTime ? ", processor time" : "")",
            cell.setting.placement,
            cells.times(of: cell.ours, cell.measure).spread,
            cell.peers.count > 1 ? "best of \(cell.peers.joined(separator: " and "))" : cell.peers[0],
            cells.bestTimes(of: cell.peers, cell.measure).spread,
            ratio.description, goal.atMost.ratio, reached(ratio.median <= goal.atMost),
        ]
    }

    private var longestWaitRows: [[String]] {
        longestWaits.filter(\.isOurs).map { wait in
            [
                "`\(wait.name)`, longest wait of one access, 64 threads", wait.setting.placement, wait.times.spread,
                "", "", "", Goal.longestWait.time, reached(wait.times.median <= Goal.longestWait),
            ]
        }
    }

    /// Ours beside ours of another size, or beside a peer of the same size.
    private var growthRows: [[String]] {
        [
            ("growth-pending", "a pending command", Pending.many, Pending.few, 0, Goal.pendingTime),
            ("growth-queues", "a command beside target queues", ManyTargets.many, 1, 0, Goal.manyTargets),
            ("growth-beside", "async.set beside a thread that waits, threads", 2, 1, 0, Goal.besideWait),
            ("growth-lanes", "a command for one of several target queues", 2, 2, 1, Goal.lanes),
            ("growth-lanes", "a command for one of several target queues", 8, 8, 1, Goal.lanes),
            ("growth-lanes", "a command for one of several target queues", 8, 8, 2, Goal.lanesInTurn),
            ("growth-async-closures", "async closures", AsyncClosures.many, AsyncClosures.few, 0, Goal.asyncClosures),
            ("growth-connection", "tasks for a connection", OneConnection.many, OneConnection.few, 0, Goal.connection),
        ].compactMap { (file: String, name: String, size: Int, other: Int, curve: Int, atMost: Double) -> [String]? in
            guard let growth = (growths + realGrowths).first(where: { $0.file == file }) else { return nil }
            let (ours, others) = (growth.times(of: size), growth.times(of: other, curve: curve))
            let ratio = Ratio(zip(ours, others).map { $0 / $1 })
            return [
                "\(name), \(size.grouped)", "", ours.spread,
                curve == 0 ? "the same, \(other.grouped)" : growth.curves[curve].name,
                others.spread, ratio.description, atMost.ratio, reached(ratio.median <= atMost),
            ]
        }
    }

    private var memoryRows: [[String]] {
        guard let bytes = pendingBytes?.rounded() else { return [] }
        return [
            [
                "memory of a pending command, \(Pending.many.grouped)", "", "\(Int(bytes)) bytes", "", "", "",
                "\(Int(Goal.pendingBytes)) bytes", reached(bytes <= Goal.pendingBytes),
            ]
        ]
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
        let rows = cells.contestants.map { contestant in
            [
                contestant.isOurs ? "**\(contestant.name)**" : contestant.name,
                cells.times(of: contestant.name).spread, cells.times(of: contestant.name, .processorTime).spread,
            ] + peers.map { cells.ratio(of: contestant.name, toBestOf: [$0]).description }
        }
        let heads = ["", "an operation", "processor time"]
        let disturbed =
            cells.disturbedRounds == 0
            ? "" : "\n\n\(cells.disturbedRounds) of \(cells.rounds) rounds shared a core with something else."
        return "## \(title)\n\n" + table(heads + peers.map { "to \($0)" }, rows) + disturbed
    }

    private var longestWaitTable: String {
        "## longest wait of one access, 64 threads that hold the value for 1 µs each\n\n"
            + table(
                ["", "placement", "a round's", "longest"],
                longestWaits.map { wait in
                    [
                        wait.isOurs ? "**\(wait.name)**" : wait.name, wait.setting.placement,
                        wait.times.spread, wait.times.quantile(1).time,
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

    private func section(of growth: Growth) -> String {
        "### \(growth.title)\n\n![\(growth.title)](\(growth.file).svg)\n\n"
            + table(
                [growth.unit] + growth.curves.map { $0.isOurs ? "**\($0.name)**" : $0.name },
                growth.sizes.enumerated().map { place, size in
                    [size.grouped] + growth.curves.map { $0.times[place].spread }
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
