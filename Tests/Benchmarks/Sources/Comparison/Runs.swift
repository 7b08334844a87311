//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Workloads

/// The six cells of the README, in the last runs.
struct Runs {
    /// One line for each run: the date, the processor, the kernel, then our time, the peer's and the ratio of each cell.
    private(set) var lines: [String]

    private static let cells = [
        (
            "`Protected.write`, 8 threads", "`NIOLockedValueBox`",
            Cell(.changes, .crowd.leftToSystem, "Protected.write", ["NIOLockedValueBox"])
        ),
        (
            "`wait.highestPriority.set`, 8 threads", "`NIOLockedValueBox`",
            Cell(.changes, .crowd.leftToSystem, Goal.set, ["NIOLockedValueBox"])
        ),
        ("`wait.highestPriority.set`, 1 thread", "`Mutex`", Cell(.changes, .alone, Goal.set, ["Mutex"])),
        ("the same, a large structure", "`Mutex`", Cell(.largeChange, .alone, Goal.set, ["Mutex"])),
        (
            "`async.set`, processor time", "queue and lock",
            Cell(
                .submissions,
                .alone.leftToSystem,
                "async.set { }",
                ["DispatchQueue.async + lock"],
                .processorTime
            )
        ),
        ("`await value.async` `set`, 8 tasks", "an actor", Cell(.awaits, .eightTasks, Goal.awaited, ["actor"])),
    ]

    /// Adds a run of everything, and keeps the last three: of other days or machines, as far as there are any.
    mutating func add(_ report: Report) {
        let numbers = Self.cells.map { _, _, cell in
            let cells = report.cells(of: cell)!
            let ratio = cells.ratio(of: cell.ours, toBestOf: cell.peers, cell.measure).median
            return "\(cells.times(of: cell.ours, cell.measure).median.short) "
                + "\(cells.bestTimes(of: cell.peers, cell.measure).median.short) \(ratio.ratio)"
        }
        let origin = [Machine.date, Machine.processor, Machine.kernel].joined(separator: " | ")
        let others = lines.filter { !$0.hasPrefix(origin) }
        let run = "\(origin) | \(numbers.joined(separator: " | "))"
        lines = ((others.count < 2 ? lines : others) + [run]).suffix(3)
    }

    /// The medians of the times, and the lowest and the highest ratio.
    var rows: [[String]] {
        let runs = lines.map { line in
            line.split(separator: "|").dropFirst(3).map { $0.split(separator: " ").map { Double($0)! } }
        }
        return Self.cells.enumerated().map { index, cell in
            let numbers = runs.map { $0[index] }
            let ratios = numbers.map { $0[2] }
            let (low, high) = (ratios.min()!, ratios.max()!)
            return [
                cell.0, numbers.map { $0[0] }.median.time, "\(cell.1), \(numbers.map { $0[1] }.median.time)",
                "\(low.ratio)–\(high.ratio)" + (high > low * 4 / 3 ? ", varies by machine" : ""),
            ]
        }
    }

    init(_ text: String) {
        lines = text.split(separator: "\n").map(String.init)
    }
}
