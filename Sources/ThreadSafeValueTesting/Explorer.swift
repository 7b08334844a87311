//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
import Dispatch
import Foundation
import ThreadSafeValue

/// Runs schedule after schedule.
struct Explorer {
    let changes: Int
    let limit: Int
    let timeout: DispatchTimeInterval

    /// Explorations run one after the other, as the library has one scheduler.
    private static let turn = NSLock()

    func explore(replaying text: String?, _ test: (Schedule) throws -> Void) throws -> Exploration {
        Self.turn.lock()
        defer { Self.turn.unlock() }
        Run.prepare()
        if let text {
            guard let choices = Choices(text: text) else {
                throw ScheduleFailure(description: "No failure gave this replay: \(text)", schedules: 0, replay: text)
            }
            let run = Run(choices, isTraced: true)
            if let failure = try execute(run, test) { throw failure.described(after: 1) }
            return Exploration(schedules: 1, extent: .replayed)
        }
        var (search, schedules, end) = (Search(changes: changes), 0, DispatchTime.now() + timeout)
        while let prefix = search.next() {
            if schedules >= limit || DispatchTime.now() > end {
                return Exploration(schedules: schedules, extent: .stopped)
            }
            let run = Run(Choices(prefix: prefix), isTraced: false)
            schedules += 1
            if let failure = try execute(run, test) {
                // Once more, with the places.
                let again = try execute(Run(Choices(prefix: run.choices.taken), isTraced: true), test)
                let isSame = again.map { failure.isSame(as: $0) } == true
                throw (isSame ? again! : failure).described(after: schedules, isSame: isSame)
            }
            if run.choices.hasDiverged {
                let message = "The test is not the same each time: it asks for the clock, for chance, or for a static"
                throw Failure(run, message).described(after: schedules)
            }
            search.add(run.choices)
        }
        return Exploration(schedules: schedules, extent: search.isCut ? .changes(changes) : .all)
    }

    /// Runs the test once.
    private func execute(_ run: Run, _ test: (Schedule) throws -> Void) throws -> Failure? {
        defer { run.close() }
        let setup = run.open()
        do { try test(Schedule(of: run)) } catch {
            run.abandon()
            throw error
        }
        run.begin(setup)
        run.waitForEnd()
        return (run.failure ?? run.orderFailure ?? run.checks.lazy.compactMap { $0() }.first).map { Failure(run, $0) }
    }
}

/// What failed in which run.
struct Failure {
    private let run: Run
    private let message: String

    init(_ run: Run, _ message: String) { (self.run, self.message) = (run, message) }

    func isSame(as other: Failure) -> Bool {
        run.choices.taken == other.run.choices.taken && !other.run.choices.hasDiverged
    }

    func described(after schedules: Int, isSame: Bool = true) -> ScheduleFailure {
        let replay = run.choices.text
        let text = """
            \(message), after \(number(schedules, "schedule")), with \(number(run.choices.changes, "change")) of threads
            \(run.story)replay with everySchedule(replaying: "\(replay)")
            """
        let doubt = isSame ? "" : "\nIt was not the same when it was run again, so the places are missing."
        return ScheduleFailure(description: text + doubt, schedules: schedules, replay: replay)
    }
}
#endif
