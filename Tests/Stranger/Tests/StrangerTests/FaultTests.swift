//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Faults
import Foundation
import Testing
import ThreadSafeValue
import ThreadSafeValueTesting

extension Schedule: Stage {}

#if EverySchedule
@Suite("Faults of programs that use the library", .serialized)
struct FaultTests {
    @Test("Each fault is found, in the same words each time", arguments: Fault.all)
    func isFound(_ fault: Fault) throws {
        let start = Date()
        let failure = try #require(throws: ScheduleFailure.self) { try everySchedule { fault.scene($0, true) } }
        let time = Date().timeIntervalSince(start)
        #expect(failure.description.hasPrefix(fault.says), "\(failure)")
        // An async function that awaits a command is not on the stack.
        #expect(fault.isOfTasks || failure.description.contains(".swift:"))
        print("\(fault): \(failure.schedules) schedules, \(Int(time * 1_000)) ms")
        let again = try #require(throws: ScheduleFailure.self) { try everySchedule { fault.scene($0, true) } }
        #expect(again == failure)
        let replayed = try #require(throws: ScheduleFailure.self) {
            try everySchedule(replaying: failure.replay) { fault.scene($0, true) }
        }
        #expect(replayed.description.hasPrefix(fault.says))
    }

    @Test("The right form passes under all schedules", arguments: Fault.all)
    func rightFormPasses(_ fault: Fault) throws {
        let result = try everySchedule { fault.scene($0, false) }
        #expect(result.extent != .stopped)
        print("\(fault), put right: \(result)")
    }
}
#endif
