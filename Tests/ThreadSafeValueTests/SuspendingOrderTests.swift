//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("The order of commands around a suspension")
struct SuspendingOrderTests {
    @Test("A command that suspends the value amid many keeps the others in order", arguments: [0, 1, 63, 64])
    func inTheMiddle(suspending: Int) throws {
        let ran = Log<Int>()
        try inTime {
            // More than a block runs in one go, so the rest of its run goes before others of its priority again.
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            let blocker = Blocker(value)
            for index in 0..<200 {
                value.async(performIn: queue).mediumPriority.set { _ in
                    if index == suspending { value.suspend() }
                    ran.add(index)
                }
            }
            blocker.end()
            // First the command that suspends, then the rest of its run, which had left the line.
            try poll("the value is suspended") { ran.count > suspending }
            try poll("the rest waits") { value.pendingCommandCount == 199 - suspending }
            #expect(ran.entries == Array(0...suspending))
            value.resume()
            try poll("all have run") { ran.count == 200 }
        }
        #expect(ran.entries == Array(0..<200))
    }
}
