//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
import Foundation
import ThreadSafeValue

/// Prints the schedule in which the process crashes.
enum Crash {
    private static let signals = [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT]

    // Written once, before any schedule.
    nonisolated(unsafe) private static var before: [sigaction] = []

    static func prepare() {
        for number in signals {
            var old = sigaction()
            unsafe sigaction(number, nil, &old)
            unsafe before.append(old)
            signal(number) { Crash.report($0) }
        }
    }

    /// The crash goes on as it would have: the instruction is run again, with the handler from before.
    private static func report(_ number: CInt) {
        for (number, old) in unsafe zip(signals, before) {
            var old = old
            unsafe sigaction(number, &old, nil)
        }
        guard let run = Runner.current?.run else { return }
        // First what needs least.
        let replay = "everySchedule(replaying: \"\(run.choices.text)\")"
        writeToStandardError("\neverySchedule: a crash in this schedule, replay it with \(replay)")
        writeToStandardError(run.story)
    }
}
#endif
