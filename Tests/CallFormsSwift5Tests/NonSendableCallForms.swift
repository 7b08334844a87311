//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

/// A class as older code has them, which says nothing about concurrency.
private final class Settings {
    var volume = 1
}

@Suite("Swift 5 code with classes that are not Sendable")
struct NonSendableCallForms {
    @Test func `waits for them`() {
        let settings = QueueSafeValue(value: Settings())
        settings.wait.highestPriority.set { $0.volume = 2 }
        #expect((try? settings.wait.lowestPriority.get().get().volume) == 2)
    }

    @Test func `uses them on a queue`() {
        let settings = QueueSafeValue(value: Settings())
        let semaphore = DispatchSemaphore(value: 0)
        settings.async(performIn: .utility).highestPriority.set {
            $0.volume = 2
        } completion: { result in
            #expect((try? result.get().volume) == 2)
            semaphore.signal()
        }
        semaphore.wait()
    }
}
