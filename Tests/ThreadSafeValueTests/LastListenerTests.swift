//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

@Suite("A loop over changes that begins while the value goes away")
struct LastListenerTests {
    /// One thread lets go of the value while another begins to listen, thousands of times. Whoever looks whether the value is
    /// still there may be the last to have it, and lets it go where that takes a lock.
    @Test("Begins and ends in good order")
    func begins() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            for round in 0..<10_000 {
                let holder = Protected<QueueSafeValue<Int>?>(QueueSafeValue(value: 0))
                let changes = holder.wrappedValue!.changes
                _ = changes.makeAsyncIterator()
                let gate = StartGate(count: 2)
                let thread = RunningThread {
                    gate.pass()
                    spin(UInt64(round % 50) * 20)
                    holder.wrappedValue = nil
                }
                gate.pass()
                for _ in 0..<4 { _ = changes.makeAsyncIterator() }
                thread.join()
            }
        }
    }
}
