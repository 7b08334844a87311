//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import ThreadSafeValue

/// A task waits for the turn, is sent for, comes in vain, and is sent for again while its executor stands.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
func sendForInVain(
    _ value: QueueSafeValue<Int>,
    _ executor: QueueExecutor,
    timeout: DispatchTimeInterval = .never,
    _ answers: Log<Result<Int, QueueSafeValueError>> = Log()
) throws {
    // When `end` of these returns, the turn is free.
    let first = HoldingThread(value)
    Task(executorPreference: executor) {
        answers.add(await value.async(timeout: timeout).lowestPriority.set { $0 += 1 })
    }
    // On a busy machine its time may be over between two looks.
    try poll("it waits") { value.pendingCommandCount() + answers.count == 1 }
    executor.suspend()
    first.end()
    let second = HoldingThread(value, .highest)
    executor.queue.resume()
    executor.suspend()
    second.end()
}
