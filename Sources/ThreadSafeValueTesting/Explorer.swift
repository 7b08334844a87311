//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
import Dispatch
import Foundation
import ThreadSafeValue

/// Runs schedule after schedule.
struct Explorer {
    let limit: Int
    let timeout: DispatchTimeInterval

    /// The one schedule to run, if that was asked for.
    let replay: String?

    /// Explorations run one after the other, as the library has one scheduler.
    private static let turn = NSLock()

    func explore(changes: Int, _ test: (Schedule) throws -> Void) throws -> Exploration {
        Self.turn.lock()
        defer { Self.turn.unlock() }
        _ = Hooks.install
        var (search, schedules, end) = (Search(from: replay ?? "", changes: changes), 0, DispatchTime.now() + timeout)
        while let choices = search.next() {
            if replay == nil, schedules >= limit || DispatchTime.now() > end {
                return Exploration(schedules: schedules, extent: .stopped)
            }
            let run = Run(Choices(choices), isTraced: false)
            schedules += 1
            if let message = try run.execute(test) {
                // Once more, with the places.
                let again = Run(Choices(run.choices.taken), isTraced: true)
                if let message = try again.execute(test), again.choices.taken == run.choices.taken {
                    throw again.described(message, after: schedules)
                }
                throw run.described("\(message), but not when run again", after: schedules)
            }
            if run.choices.hasDiverged {
                let cause = replay == nil ? "does it use the clock, chance, or a static variable" : "is this its replay"
                throw run.described("the test is not the same each time: \(cause)?", after: schedules)
            }
            if replay == nil { search.add(run.choices) }
        }
        let extent = replay != nil ? Exploration.Extent.replayed : search.isCut ? .changes(changes) : .all
        return Exploration(schedules: schedules, extent: extent)
    }
}

extension Run {
    func described(_ message: String, after schedules: Int) -> ScheduleFailure {
        let text = """
            \(message), after \(number(schedules, "schedule")), with \(number(choices.changes, "change")) of threads
            \(story)replay with everySchedule(replaying: "\(choices.text)")
            """
        return ScheduleFailure(description: text, schedules: schedules, replay: choices.text)
    }
}
#endif
