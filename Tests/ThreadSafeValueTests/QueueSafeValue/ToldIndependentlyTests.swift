//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

/// Two tasks wait for the same. The first cannot be resumed: what is to be done when its priority changes is under way,
/// and waits for the turn of a value that the other gives back when it goes on.
@Suite("Those who are told at once do not wait for each other")
struct ToldIndependentlyTests {
    /// What the tasks wait for.
    enum Event: String, Codable, CaseIterable {
        case submittedCommandEnds
        case submittedCommandIsCancelled
        case allAreCancelled
        case allCommandsOfTasksAreCancelled
        case suspendedValueGoes
        case valueChanges
        case protectedValueChanges
        case valueChangesWithConditions
        case listenedValueGoes
    }

    @Test(arguments: Event.allCases)
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func `Tasks do not`(event: Event) async {
        await #expect(processExitsWith: .success) { [event] in
            giveUp(afterSeconds: 60)
            let (value, protected) = (Protected<QueueSafeValue<Int>?>(QueueSafeValue(value: 0)), Protected(0))
            let (wait, happen) = Self.program(of: event, value, protected)
            let given = QueueSafeValue(value: 0)
            let blocker = try await onThreadOfItsOwn { Blocker(given) }
            let first = EscalatedTask(wait) { given.wait.lowestPriority.set { $0 += 1 } }
            first.waitUntilSuspended()
            let second = EscalatedTask {
                await wait()
                blocker.end()
            } onEscalation: {
            }
            second.waitUntilSuspended()
            first.escalate()
            happen()
            await second.task.value
            await first.task.value
        }
    }

    /// - Returns: What the tasks do, and what makes it happen.
    private static func program(
        of event: Event,
        _ value: Protected<QueueSafeValue<Int>?>,
        _ protected: Protected<Int>
    ) -> (wait: @Sendable () async -> Void, happen: @Sendable () -> Void) {
        let changes = value.wrappedValue!.changes
        let handle: @Sendable () -> QueueSafeValue<Int> = { value.wrappedValue! }
        let submits = event.rawValue.hasPrefix("submitted") || event == .allAreCancelled || event == .suspendedValueGoes
        if submits || event == .allCommandsOfTasksAreCancelled { handle().suspend() }
        let commands = handle().async(performIn: .utility).lowestPriority
        let command = submits ? commands.set { $0 += 1 } : nil
        return switch event {
        case .submittedCommandEnds: ({ _ = await command!.value }, { handle().resume() })
        case .submittedCommandIsCancelled: ({ _ = await command!.value }, { command!.cancel() })
        case .allAreCancelled: ({ _ = await command!.value }, { handle().cancelAllPendingCommands() })
        case .suspendedValueGoes: ({ _ = await command!.value }, { value.wrappedValue = nil })
        case .allCommandsOfTasksAreCancelled:
            ({ await handle().async.lowestPriority.set { $0 += 1 } }, { handle().cancelAllPendingCommands() })
        case .valueChanges:
            ({ for await _ in changes { return } }, { handle().wait.lowestPriority.set { $0 += 1 } })
        case .protectedValueChanges: ({ for await _ in protected.changes { return } }, { protected.wrappedValue += 1 })
        case .valueChangesWithConditions:
            (
                { await handle().async.lowestPriority.set(when: { $0 > 0 }) { $0 += 1 } },
                { handle().wait.lowestPriority.set { $0 += 1 } }
            )
        case .listenedValueGoes: ({ for await _ in changes {} }, { value.wrappedValue = nil })
        }
    }

    @Test(arguments: ["the value goes", "commands are cancelled"])
    func `Nor do completions on a concurrent queue`(when: String) throws {
        try inTime {
            let given = QueueSafeValue(value: 0)
            let blocker = Blocker(given)
            let areTold = DispatchGroup()
            for _ in 0..<2 { areTold.enter() }
            do {
                let value = QueueSafeValue(value: 0)
                value.suspend()
                let commands = value.async(performIn: .global()).lowestPriority
                commands.set {
                    $0 += 1
                } completion: { _ in
                    given.wait.lowestPriority.set { $0 += 1 }
                    areTold.leave()
                }
                commands.set {
                    $0 += 1
                } completion: { _ in
                    blocker.end()
                    areTold.leave()
                }
                if when == "commands are cancelled" { value.cancelAllPendingCommands() }
            }
            areTold.wait()
        }
    }

    @Test
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func `Nor does a task wait for a completion on the queue where its command would have run`() throws {
        try inTime {
            let (value, given) = (QueueSafeValue(value: 0), QueueSafeValue(value: 0))
            let isTold = Door()
            value.suspend()
            value.async(performIn: .userInitiated).lowestPriority.set {
                $0 += 1
            } completion: { _ in
                given.wait.lowestPriority.set { $0 += 1 }
                isTold.open()
            }
            OwnThreads.run {
                await given.async.lowestPriority.set { number async in
                    await value.async.lowestPriority.set { $0 += 1 }
                    number += 1
                }
            }
            try value.waitForPending(2)
            #expect(value.cancelAllPendingCommands() == 2)
            isTold.waitUntilOpen()
        }
    }
}
