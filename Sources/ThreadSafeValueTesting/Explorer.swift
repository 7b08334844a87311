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
        _ = Hooks.install
        if let text {
            guard let choices = Choices(text: text) else {
                throw ScheduleFailure(description: "No failure gave this replay: \(text)", schedules: 0, replay: text)
            }
            let run = Run(choices, isTraced: true)
            if let message = try run.execute(test) { throw run.described(message, after: 1) }
            return Exploration(schedules: 1, extent: .replayed)
        }
        var (search, schedules, end) = (Search(changes: changes), 0, DispatchTime.now() + timeout)
        while let prefix = search.next() {
            if schedules >= limit || DispatchTime.now() > end {
                return Exploration(schedules: schedules, extent: .stopped)
            }
            let run = Run(Choices(prefix: prefix), isTraced: false)
            schedules += 1
            if let message = try run.execute(test) {
                // Once more, with the places.
                let again = Run(Choices(prefix: run.choices.taken), isTraced: true)
                if let message = try again.execute(test), again.choices.taken == run.choices.taken {
                    throw again.described(message, after: schedules)
                }
                throw run.described("\(message), but not when run again", after: schedules)
            }
            if run.choices.hasDiverged {
                let message = "the test is not the same each time: does it use the clock, chance, or a static variable?"
                throw run.described(message, after: schedules)
            }
            search.add(run.choices)
        }
        return Exploration(schedules: schedules, extent: search.isCut ? .changes(changes) : .all)
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
