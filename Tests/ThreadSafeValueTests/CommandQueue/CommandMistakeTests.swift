//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("Mistakes are reported")
struct CommandMistakeTests {
    @Test func `Each mistake once, with the type of its value and the command`() async throws {
        struct Own: Sendable {
            var number = 0
        }
        Mistakes.keepQuiet()
        let value = QueueSafeValue(value: Own())
        try await onThreadOfItsOwn {
            try inTime {
                value.wait.lowestPriority.set { _ in
                    value.wait.highestPriority.set { $0.number += 1 }
                    _ = value.wait(timeout: .seconds(1)).lowPriority.update(when: { _ in true }) { _ in }
                    withLocked(value, QueueSafeValue(value: 0)) { _, _ in }
                }
                value.wait.lowestPriority.set { _, done in }
                value.async(performIn: .utility).lowestPriority.set { _, done in }
                value.async(performIn: .utility).lowestPriority.set { _, done in
                    DispatchQueue.global().async { _ = done }
                }
                try poll("all are done") { Mistakes.with(Own.self).count == 6 }
                value.resume()
            }
        }
        await value.async.mediumPriority.set { _ in
            await value.async.highPriority.set { $0.number += 1 }
        }
        let mistakes = Mistakes.with(Own.self)
        let errors =
            Array(repeating: QueueSafeValueError.reentrantCommand, count: 3)
            + Array(repeating: .completionDropped, count: 3) + [.notSuspended, .reentrantCommand]
        #expect(mistakes.map(\.error) == errors)
        let commands = [
            "wait.highestPriority", "wait.lowPriority", "wait.lowestPriority", "a command with `done`",
            "a command with `done`", "a command with `done`", "resume()", "async.highPriority",
        ]
        #expect(mistakes.map(\.command) == commands)
        #expect(await value.async.lowestPriority.map { $0.number } == .success(0))
    }

    @Test func `A circle too, by the one that finds it`() throws {
        struct Own: Sendable {}
        Mistakes.keepQuiet()
        try inTime {
            let values = [QueueSafeValue(value: Own()), QueueSafeValue(value: Own())]
            let bothHaveOne = StartGate(count: 2)
            onThreads(2) { index in
                values[index].wait.lowestPriority.set { _ in
                    bothHaveOne.pass()
                    values[1 - index].wait.lowestPriority.set { _ in }
                }
            }
        }
        #expect(Mistakes.with(Own.self).map(\.error) == [.circularWait])
    }

    @Test func `What is no mistake is not reported`() async throws {
        struct Own: Sendable {}
        struct Refused: Error {}
        Mistakes.keepQuiet()
        let value = QueueSafeValue(value: Own())
        try await onThreadOfItsOwn {
            try inTime {
                let blocker = Blocker(value)
                value.wait(timeout: .seconds(0)).lowestPriority.set { _ in }
                value.async(performIn: .utility).lowestPriority.set { _ in }.cancel()
                blocker.end()
                value.wait.lowestPriority.set { _ in throw Refused() }
                value.suspend()
                value.resume()
                value.wait.lowestPriority.set { _, done in
                    done()
                    done()
                }
            }
        }
        #expect(Mistakes.with(Own.self).isEmpty)
    }

    #if DEBUG
    @Test func `Without a handler, a debug build writes a line to standard error, and goes on`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let value = QueueSafeValue(value: [1])
            value.resume()
            value.wait.lowestPriority.set { _ in value.wait.highestPriority.set { $0 = [] } }
            CommandMistake.report(to: { _ in })
            value.resume()
            CommandMistake.report(to: nil)
            value.resume()
        }
        let lines = result?.crashMessage.split(separator: "\n").filter { $0.hasPrefix("ThreadSafeValue: ") } ?? []
        #expect(lines.count == 3)
        #expect(
            lines.dropFirst().first?.contains("QueueSafeValue<Array<Int>>, wait.highestPriority: The command is inside")
                == true
        )
        #expect(lines.first == lines.last)
        #expect(lines.first?.contains("resume()") == true)
    }
    #endif
}
