//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("QueueSafeValue, handles that are used and let go while commands run")
struct FaultCancelRaceTests {
    /// No gate between the two threads: it would order what the command queue is to order. Under the thread sanitizer.
    @Test("A command is cancelled or runs, never both, when its handle goes away at once", .timeLimit(.minutes(5)))
    func handlesGoAway() throws {
        let (sum, cancelled) = try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            let cancelled = Log<Int>()
            for round in 0..<1_500 {
                value.suspend()
                let commands = value.async(performIn: queue).mediumPriority
                let handles = Handles((0..<40).map { _ in commands.set { $0 += 1 } })
                let thread = RunningThread {
                    var count = 0
                    while let handle = handles.takeLast() {
                        if handle.cancel() { count += 1 }
                    }
                    cancelled.add(count)
                }
                work(nanoseconds: UInt64(round % 50) * 1_000)
                value.resume()
                thread.join()
            }
            let end = Door()
            let sum = Log<Int>()
            value.async(performIn: queue).lowestPriority.get { result in
                sum.add((try? result.get()) ?? -1)
                end.open()
            }
            end.waitUntilOpen()
            return (sum.entries[0], cancelled.entries.reduce(0, +))
        }
        #expect(sum + cancelled == 1_500 * 40)
    }
}

/// Handles of which one after the other is let go.
///
/// `@unchecked Sendable`: given to one thread, and used by nobody else from then on.
private final class Handles: @unchecked Sendable {
    private var list: [HandleOfCommand]

    init(_ list: [HandleOfCommand]) {
        self.list = list
    }

    func takeLast() -> HandleOfCommand? { list.popLast() }
}
