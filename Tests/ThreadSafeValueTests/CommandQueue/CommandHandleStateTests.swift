//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

/// A queue runs a long row of commands. Another thread does what must keep those that wait from beginning, and only
/// then asks their handles. A command that its handle calls waiting then, and that begins all the same, was neither.
@Suite("A command that its handle calls waiting does not begin against what was done before", .serialized)
struct CommandHandleStateTests {
    private static let rounds = isSanitized ? 500 : 6_000
    private static let count = 24

    @Test("After `suspend()` has returned, none does before `resume()`")
    func suspended() throws {
        let wrong = try inTime {
            var wrong = 0
            let value = QueueSafeValue(value: [Int]())
            let queue = DispatchQueue(label: "target")
            for round in 0..<Self.rounds {
                let row = Row(value, queue)
                try row.waitFor(round % (Self.count / 2))
                value.suspend()
                let waiting = row.waiting
                // The block that ran them, if any, has ended then, and none comes.
                queue.sync {}
                queue.sync {}
                wrong += waiting.count { row.handles[$0].state == .started }
                value.resume()
                Self.finish(value, queue)
            }
            return wrong
        }
        #expect(wrong == 0)
    }

    /// The turn is kept for the queue of the urgent command for 5 ms; what begins later than that may do so.
    @Test("After a more urgent command was submitted, none does before that one")
    func urgent() throws {
        let wrong = try inTime {
            var wrong = 0
            let value = QueueSafeValue(value: [Int]())
            let queue = DispatchQueue(label: "target")
            let other = DispatchQueue(label: "of the urgent one")
            for round in 0..<Self.rounds {
                let row = Row(value, queue)
                try row.waitFor(round % (Self.count / 2))
                let submitted = nanoseconds()
                let begun = Log<UInt64>()
                value.async(performIn: other).highestPriority.set {
                    $0.append(-1)
                    begun.add(nanoseconds())
                }
                let waiting = Set(row.waiting)
                let order = Self.finish(value, queue)
                // If its queue was late, it is not when the next round begins.
                try poll("the urgent one has begun") { begun.count == 1 }
                other.sync {}
                value.wait.lowestPriority.set { $0 = [] }
                guard let time = begun.takeFirst(), time < submitted + 4_000_000 else { continue }
                wrong += order.prefix { $0 != -1 }.count { waiting.contains($0) }
            }
            return wrong
        }
        #expect(wrong == 0)
    }

    /// A row of commands that its queue runs now.
    private struct Row {
        let handles: [HandleOfCommand]

        /// Which command began last, so that the handle of the next is the first to be asked.
        let last = Protected(-1)

        init(_ value: QueueSafeValue<[Int]>, _ queue: DispatchQueue) {
            value.suspend()
            handles = (0..<CommandHandleStateTests.count).map { [last] index in
                value.async(performIn: queue).lowestPriority.set {
                    $0.append(index)
                    last.wrappedValue = index
                }
            }
            value.resume()
        }

        /// Waits until the row goes, and for some of the commands.
        func waitFor(_ count: Int) throws {
            try poll(looks: 1_000, "the row goes") { last.wrappedValue >= count }
        }

        /// Those that do not have begun.
        var waiting: [Int] {
            let next = max(0, last.wrappedValue)
            return (next..<handles.count).filter { handles[$0].state == .waiting }
        }
    }

    /// Waits for all commands, and answers in what order they began.
    @discardableResult
    private static func finish(_ value: QueueSafeValue<[Int]>, _ queue: DispatchQueue) -> [Int] {
        let order = Log<[Int]>()
        let end = Door()
        value.async(performIn: queue).lowestPriority.set {
            order.add($0)
            $0 = []
            end.open()
        }
        end.waitUntilOpen()
        return order.entries[0]
    }
}
