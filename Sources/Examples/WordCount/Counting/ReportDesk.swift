//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import ThreadSafeValue

/// Keeps the report: files are entered when there is time, questions are answered at once.
///
/// Entering is a command of lowest priority, which waits in line without a thread. Asking is one of highest priority: it
/// overtakes whatever waits, however long the line is.
struct ReportDesk: Sendable {
    private let report = QueueSafeValue(value: Report())

    // The queue where files are entered.
    private let clerk: DispatchQueue

    // Entered for each file handed in, left when its command has ended.
    private let open = DispatchGroup()

    @Protected private var failure: QueueSafeValueError?

    init(clerk: DispatchQueue = DispatchQueue(label: "WordCount.clerk", qos: .utility)) {
        self.clerk = clerk
    }
}

extension ReportDesk {
    /// Hands in what came of a file, and returns at once.
    func handIn(_ entry: Report.Entry) {
        open.enter()
        report.async(performIn: clerk).lowestPriority.set { report in
            report.add(entry)
        } completion: { result in
            if case .failure(let error) = result { failure = error }
            open.leave()
        }
    }

    /// How far the report is, on the calling thread, without waiting for the files in line.
    ///
    /// `map` looks at the report in its place. With `get()`, the copy would still be around when the next file is entered,
    /// which would then copy all words of the report first.
    func snapshot() throws(QueueSafeValueError) -> Snapshot {
        try report.wait.highestPriority.map { Snapshot(of: $0) }.get()
    }

    /// Waits until all that was handed in is entered.
    ///
    /// A `wait.lowestPriority` command would not do: while the clerk's queue is late, others go first.
    func isIdle(by deadline: DispatchTime) -> Bool {
        open.wait(timeout: deadline) == .success
    }

    /// The whole report, or why a command on it failed.
    func result() throws(QueueSafeValueError) -> Report {
        if let failure { throw failure }
        // The first `get` is the command, the second opens its `Result`.
        return try report.wait.highestPriority.get().get()
    }
}
