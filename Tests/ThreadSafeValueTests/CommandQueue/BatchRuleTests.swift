//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("The rules of the line: batch")
struct BatchRuleTests {
    @Test("Rule 6: completions that block, on a concurrent queue, do not keep the commands behind them")
    func blockingCompletions() throws {
        let (ran, told) = try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
            let (ran, told) = (Log<Int>(), Log<Int>())
            let (othersAreDone, allAreDone) = (Door(), DispatchGroup())
            value.suspend()
            for index in 0..<20 {
                allAreDone.enter()
                value.async(performIn: queue).lowestPriority.set { _ in
                    ran.add(index)
                } completion: { _ in
                    if index == 0 || index == 7 { othersAreDone.waitUntilOpen() }
                    told.add(index)
                    allAreDone.leave()
                }
            }
            value.resume()
            try poll("the others are told") { told.count == 18 }
            othersAreDone.open()
            allAreDone.wait()
            return (ran.entries, told.entries)
        }
        #expect(ran == Array(0..<20))
        #expect(told.sorted() == Array(0..<20))
        #expect(Set(told.suffix(2)) == [0, 7])
    }

    @Test("Rule 6: a completion that waits for the value, and then for the next command, keeps neither")
    func waitingCompletion() throws {
        let order = try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
            let (order, nextIsTold, allAreDone) = (Log<Int>(), Door(), DispatchGroup())
            value.suspend()
            for index in 0..<3 {
                allAreDone.enter()
                value.async(performIn: queue).lowestPriority.set {
                    $0 += 1
                } completion: { _ in
                    if index == 0 {
                        _ = value.wait.lowestPriority.get()
                        nextIsTold.waitUntilOpen()
                    }
                    order.add(index)
                    if index == 1 { nextIsTold.open() }
                    allAreDone.leave()
                }
            }
            value.resume()
            allAreDone.wait()
            return order.entries
        }
        #expect(Set(order) == [0, 1, 2])
    }

    @Test("Rule 6: what a closure returned goes away without the turn, also in the middle of a batch")
    func answersGoAway() throws {
        let seen = try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            let (seen, secondRuns) = (Log<Result<Int, QueueSafeValueError>>(), Door())
            let thread = RunningThread {
                secondRuns.waitUntilOpen()
                value.wait.lowestPriority.set { $0 += 1 }
            }
            value.suspend()
            value.async(performIn: queue).lowestPriority.update { _ in
                Last { seen.add(value.wait.lowestPriority.get()) }
            } completion: { _ in
            }
            value.async(performIn: queue).lowestPriority.set { current in
                current += 1
                secondRuns.open()
                try value.waitForPending(2)
            }
            value.async(performIn: queue).lowestPriority.set { $0 += 1 }
            value.resume()
            try poll("the answer is gone") { seen.count == 1 }
            thread.join()
            return seen.entries
        }
        #expect(seen.map { (try? $0.get()) != nil } == [true])
    }

    @Test("Rule 6: a serial queue gets to its other work amid thousands of commands")
    func otherWork() throws {
        let (seen, sum) = try inTime {
            let value = QueueSafeValue(value: 0)
            let ran = Protected(0)
            let queue = DispatchQueue(label: "target")
            queue.suspend()
            for _ in 0..<3_000 { value.async(performIn: queue).lowestPriority.set { _ in ran.write { $0 += 1 } } }
            let seen = Log<Int>()
            queue.async { seen.add(ran.wrappedValue) }
            queue.resume()
            try poll("all are done") { ran.wrappedValue == 3_000 && seen.count == 1 }
            return (seen.entries, ran.wrappedValue)
        }
        #expect(seen[0] < 3_000)
        #expect(sum == 3_000)
    }
}
