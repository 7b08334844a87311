//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("Lifted priority")
struct LiftedPriorityTests {
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `A task that waits lifts the priority of the async closure that it waits for`() throws {
        try inTime {
            let (value, isOver) = (QueueSafeValue(value: 0), DispatchSemaphore(value: 0))
            let hasBegun = DispatchSemaphore(value: 0)
            Task.detached(priority: .background) {
                await value.async.lowestPriority.set { number in
                    hasBegun.signal()
                    // It ends only with the priority of the other task.
                    while Task.currentPriority < .high { await Task.yield() }
                    number += 1
                }
            }
            hasBegun.wait()
            Task.detached(priority: .high) {
                await value.async.lowestPriority.set { $0 += 1 }
                isOver.signal()
            }
            isOver.wait()
            #expect(value.wait.lowestPriority.get() == .success(2))
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `An async closure has the priority of a task that waited before it`() throws {
        try inTime {
            // Where the first task is late, the other has its turn before it and needs no priority of it.
            var isLifted = false
            for _ in 0..<50 where !isLifted {
                let value = QueueSafeValue(value: 0)
                let (isOver, bothAreOver, isSecond) = (Protected(false), DispatchGroup(), Protected(false))
                value.suspend()
                bothAreOver.enter()
                Task.detached(priority: .background) {
                    await value.async.highestPriority.set { number in
                        while Task.currentPriority < .high, !isOver.wrappedValue { await Task.yield() }
                        isSecond.wrappedValue = isOver.wrappedValue
                        number += 1
                    }
                    bothAreOver.leave()
                }
                try poll("the first task stands in line") { value.pendingCommandCount() == 1 }
                bothAreOver.enter()
                Task.detached(priority: .high) {
                    await value.async.lowestPriority.set { $0 += 1 }
                    isOver.wrappedValue = true
                    bothAreOver.leave()
                }
                try poll("both stand in line") { value.pendingCommandCount() == 2 }
                value.resume()
                bothAreOver.wait()
                isLifted = !isSecond.wrappedValue
            }
            #expect(isLifted)
        }
    }
    /// Another thread is in the handler of the task's priority while the closure ends.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `A task whose async closure ends goes on only when its priority is no longer being lifted`() throws {
        let log = Log<String>()
        try inTime {
            let value = QueueSafeValue(value: 0)
            let (hasBegun, mayEnd, isLifted, mayGoOn) = (Door(), Door(), Door(), Door())
            let bothAreOver = DispatchGroup()
            bothAreOver.enter()
            // Not on threads of its own: with an executor, a step of the task would need a lock that the handler has.
            Task.detached(priority: .background) {
                await withTaskPriorityEscalationHandler {
                    await value.async.lowestPriority.set { number in
                        await Task.yield()
                        number += 1
                        waitHere(hasBegun, mayEnd)
                    }
                    log.add("the task goes on")
                } onPriorityEscalated: { _, _ in
                    isLifted.open()
                    mayGoOn.waitUntilOpen()
                    log.add("the lift is over")
                }
                bothAreOver.leave()
            }
            hasBegun.waitUntilOpen()
            bothAreOver.enter()
            Task.detached(executorPreference: QueueExecutor.shared, priority: .high) {
                await value.async.lowestPriority.set { $0 += 1 }
                bothAreOver.leave()
            }
            isLifted.waitUntilOpen()
            mayEnd.open()
            // The closure has ended when the turn is free. If the task did not wait, it would go on during the other tries.
            let tries = value.wait(timeout: .seconds(0)).highestPriority
            try poll("the turn is free") { tries.get() == .success(1) }
            for _ in 0..<10_000 { _ = tries.get() }
            mayGoOn.open()
            bothAreOver.wait()
        }
        #expect(log.entries == ["the lift is over", "the task goes on"])
    }
}

/// Opens a door, and waits for another one.
private func waitHere(_ opened: Door, _ awaited: Door) {
    opened.open()
    awaited.waitUntilOpen()
}
