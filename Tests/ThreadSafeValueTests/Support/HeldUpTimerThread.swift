//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import ThreadSafeValue

/// Returns when a thread of the timers waits in the executor of a task, or that task has gone on.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
func holdUpTimerThread(until mayGoOn: Door, _ end: DispatchGroup) {
    let isHeldUp = Door()
    let asked = Protected(0)
    let executor = QueueExecutor {
        // Before that it was asked to let the task start.
        guard asked.write({ count in (count, count += 1).0 }) == 1 else { return }
        isHeldUp.open()
        mayGoOn.waitUntilOpen()
    }
    let value = QueueSafeValue(value: 0)
    value.suspend()
    end.enter()
    Task(executorPreference: executor) {
        _ = await value.async(timeout: .milliseconds(1)).lowestPriority.get()
        // Who is out of time before it is suspended goes on in place.
        isHeldUp.open()
        end.leave()
    }
    isHeldUp.waitUntilOpen()
}
