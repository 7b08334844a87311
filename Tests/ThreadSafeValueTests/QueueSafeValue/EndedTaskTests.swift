//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

/// To resume a task takes a lock of that in the runtime, under which another thread runs what is to be done when the
/// priority of the task changes, or when it is cancelled. Here that is under way, and waits for what the closure has.
@Suite("Who ends the command of a task, in a closure, does not wait for the task")
struct EndedTaskTests {
    @Test(arguments: [false, true])
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func `Nor does who cancels all commands`(isAsync: Bool) async {
        await #expect(processExitsWith: .success) { [isAsync] in
            let value = QueueSafeValue(value: 0)
            value.suspend()
            try await EscalatedTask.checkInClosure {
                value.cancelAllPendingCommands()
            } whileTask: {
                let commands = value.async.lowestPriority
                Self.expectCancelled(
                    isAsync ? await commands.set { (_: inout Int) async in } : await commands.set { $0 += 1 }
                )
            }
        }
    }

    @Test(arguments: [false, true])
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func `Nor does who cancels a command that was submitted`(withAll: Bool) async {
        await #expect(processExitsWith: .success) { [withAll] in
            let value = QueueSafeValue(value: 0)
            value.suspend()
            let command = value.async(performIn: .utility).lowestPriority.set { $0 += 1 }
            try await EscalatedTask.checkInClosure {
                if withAll { value.cancelAllPendingCommands() } else { command.cancel() }
            } whileTask: {
                Self.expectCancelled(await command.value)
            }
        }
    }

    @Test
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func `Nor does an async closure that awaits a command of its own value`() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 60)
            let value = QueueSafeValue(value: UInt8(0))
            await value.async.lowestPriority.set { number async in
                let command = value.async(performIn: .utility).lowestPriority.set { $0 += 1 }
                let other = EscalatedTask {
                    guard case .failure(.reentrantCommand) = await command.value else {
                        fatalError("The command was not ended.")
                    }
                } onEscalation: {
                    value.wait.lowestPriority.set { $0 += 1 }
                }
                other.waitUntilSuspended()
                other.escalate()
                guard case .failure(.reentrantCommand) = await command.value else {
                    fatalError("The closure has waited for itself.")
                }
                number += 1
            }
            try await onThreadOfItsOwn {
                try poll("all is done") { value.wait.lowestPriority.get() == .success(2) }
            }
        }
    }

    @Test
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func `Nor does who lets go of a suspended value`() async {
        await #expect(processExitsWith: .success) {
            let value = Protected<QueueSafeValue<Int>?>(QueueSafeValue(value: 0))
            value.wrappedValue!.suspend()
            let command = value.wrappedValue!.async(performIn: .utility).lowestPriority.set { $0 += 1 }
            try await EscalatedTask.checkInClosure {
                value.wrappedValue = nil
            } whileTask: {
                guard case .failure(.valueContainerDeinited) = await command.value else {
                    fatalError("The value is there still.")
                }
            }
        }
    }

    private static func expectCancelled<Success>(_ result: Result<Success, QueueSafeValueError>) {
        guard case .failure(.cancelled) = result else { fatalError("It was not cancelled.") }
    }
}
