//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// The whole run, on the main thread: find the files, watch the threads that count them, show the words, check.
///
/// The threads write nothing: only this one does, so no line is torn by another.
struct Program {
    private let arguments: [String]
    private let console = Console()

    init(arguments: some Sequence<String>) {
        self.arguments = Array(arguments)
    }
}

extension Program {
    /// Does what the arguments ask for, and says how it went.
    func run() -> ExitStatus {
        do {
            switch try Request(arguments: arguments) {
            case .help:
                try console.print(Request.usage)
                return .success
            case .count(let paths):
                return try count(paths.isEmpty ? OwnPackage.documents() : FileFinder.find(paths))
            }
        } catch let error as UsageError {
            console.complain("\(error) (--help says more)")
            return .usage
        } catch {
            console.complain("\(error)")
            return .failed
        }
    }

    private func count(_ found: FileFinder) throws -> ExitStatus {
        for problem in found.problems { console.complain("\(problem)") }
        guard !found.files.isEmpty else {
            console.complain("there are no files to count")
            return .incomplete
        }

        let outcome = try watch(WordCounter(files: found.files))
        try console.print(Summary(outcome: outcome).text)

        let check = try Check(of: outcome, files: found.files, console)
        try console.print(check.verdict)
        guard check.hasPassed else { return .countsDiffer }
        return found.problems.isEmpty && outcome.report.problems.isEmpty ? .success : .incomplete
    }

    /// Lets the threads count, and shows a snapshot of their report fifty times a second.
    private func watch(_ counter: WordCounter) throws -> Outcome {
        let start = DispatchTime.now()
        var bar = ProgressBar(title: "Counting", total: counter.total)
        var told = 0

        func look() throws {
            let snapshot = try counter.desk.snapshot()
            for problem in snapshot.problems[told...] { console.complain("\(problem)") }
            told = snapshot.problems.count
            bar.done = snapshot.files
        }

        counter.start()
        while !counter.hasFinished(within: .milliseconds(20)) {
            try look()
            try console.show(bar)
        }
        let seconds = start.secondsUntilNow
        try look()
        try console.finish(bar)
        return Outcome(
            counts: counter.counts.all,
            report: try counter.desk.result(),
            threads: counter.threads,
            seconds: seconds
        )
    }
}
