//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation

/// Several threads that count the words of files.
///
/// Each takes a file from the list, reads and counts it on its own, adds to the shared counts, and hands in a line for the
/// report; until the list is empty.
struct WordCounter: Sendable {
    let counts = SharedCounts()
    let desk = ReportDesk()

    /// How many files there are.
    let total: Int

    /// How many threads count.
    let threads = max(2, ProcessInfo.processInfo.activeProcessorCount)

    private let files: WorkList<FoundFile>
    private let running = DispatchGroup()

    init(files: [FoundFile]) {
        self.files = WorkList(files)
        total = files.count
    }
}

extension WordCounter {
    /// Sets the threads to work, and returns at once.
    func start() {
        for _ in 0..<threads {
            DispatchQueue.global(qos: .userInitiated).async(group: running) {
                while let file = files.next() { count(file) }
            }
        }
    }

    /// Waits until all files are counted and entered in the report.
    ///
    /// - Parameter interval: How long to wait at most.
    /// - Returns: Whether they are.
    func hasFinished(within interval: DispatchTimeInterval) -> Bool {
        let deadline = DispatchTime.now() + interval
        return running.wait(timeout: deadline) == .success && desk.isIdle(by: deadline)
    }

    private func count(_ file: FoundFile) {
        switch Finding(in: file) {
        case .words(let words):
            counts.add(words)
            desk.handIn(.counted(path: file.path, words: words))
        case .skipped:
            desk.handIn(.skipped)
        case .problem(let problem):
            desk.handIn(.problem(problem))
        }
    }
}
