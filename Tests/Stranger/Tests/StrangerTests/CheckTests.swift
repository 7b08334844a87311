//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue
import ThreadSafeValueTesting

#if EverySchedule
@Suite("Checks of everySchedule", .serialized)
struct CheckTests {
    @Test("A check that waits for ever is a hang")
    func hang() throws {
        let test: (Schedule) -> Void = { schedule in
            let (value, kept) = (QueueSafeValue(value: 0), Protected<CommandCompletionClosure?>(nil))
            schedule.thread("a") {
                value.async(performIn: .global()).lowestPriority.set { _, done in kept.wrappedValue = done }
            }
            schedule.check("done is kept") { kept.wrappedValue != nil }
            schedule.check("set") { try withExtendedLifetime(kept) { try value.wait.lowestPriority.get().get() == 0 } }
        }
        let failure = try #require(throws: ScheduleFailure.self) { try everySchedule(test) }
        #expect(failure.description.hasPrefix("hang: check \"set\" waits after wait for QueueSafeValue<Int>"))
        #expect(failure.description.contains(", whose command has not called `done`, after 1 schedule"))
        // What other checks did is not told.
        #expect(!failure.description.contains("check \"done is kept\""))
        let replayed = try #require(throws: ScheduleFailure.self) { try everySchedule(replaying: failure.replay, test) }
        #expect(replayed.description == failure.description)
    }

    @Test("A check may wait for what it starts, which adds no schedules")
    func ownCommands() throws {
        let result = try everySchedule { schedule in
            let value = QueueSafeValue(value: 0)
            schedule.thread("a") { value.wait.lowestPriority.set { $0 += 1 } }
            schedule.check("all counted") {
                for _ in 0..<3 { value.async(performIn: .global()).lowestPriority.set { $0 += 1 } }
                return try value.wait(timeout: .seconds(1)).lowestPriority.get().get() == 4
            }
        }
        #expect("\(result)" == "1 schedule: all")
    }
}
#endif
