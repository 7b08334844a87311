//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("The promises of a queue-safe value")
struct PromiseTests {
    @TaskLocal private static var name = -1
    private static let key = DispatchSpecificKey<Int>()

    // MARK: 1, one at a time

    @Test("Promise 1: on threads, queues and in tasks, in all forms, nobody is inside of a command twice")
    func oneAtATime() async throws {
        let value = QueueSafeValue(value: 0)
        let inside = Inside()
        let tasks = (0..<4).map { _ in
            OwnThreads.run {
                for _ in 0..<30 {
                    await value.async.lowestPriority.set { _ in inside.visit() }
                    await value.async.highestPriority.set { _ in
                        inside.enter()
                        await Task.yield()
                        inside.leave()
                    }
                    _ = await value.async.mediumPriority.map { _ in inside.visit() }
                    await value.async.lowestPriority.update { _ in
                        inside.enter()
                        await Task.yield()
                        inside.leave()
                    }
                }
            }
        }
        try await onThreadOfItsOwn {
            try inTime {
                let serial = DispatchQueue(label: "serial")
                let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
                let group = DispatchGroup()
                onThreads(3) { index in
                    let queue = index == 0 ? serial : concurrent
                    for _ in 0..<30 {
                        for _ in 0..<2 { group.enter() }
                        value.async(performIn: queue).lowestPriority.set { _ in
                            inside.visit()
                        } completion: { _ in
                            group.leave()
                        }
                        value.async(performIn: queue).highestPriority.set { _, done in
                            inside.enter()
                            concurrent.async {
                                inside.leave()
                                done()
                            }
                        } completion: { _ in
                            group.leave()
                        }
                        value.wait.lowestPriority.set { _ in inside.visit() }
                        value.wait.highestPriority.get { _ in inside.visit() }
                        value.wait.mediumPriority.set { _, done in
                            inside.enter()
                            serial.async {
                                inside.leave()
                                done()
                            }
                        }
                        withLocked(value, QueueSafeValue(value: 0)) { _, _ in inside.visit() }
                    }
                }
                group.wait()
            }
        }
        for task in tasks { await task.value }
        #expect(inside.visits == 4 * 30 * 4 + 3 * 30 * 6)
        #expect(inside.wasNeverShared)
    }

    // MARK: 2, order

    @Test("Promise 2: the most urgent first, and the first that came among equals, on one queue")
    func orderOnOneQueue() throws {
        let ran = Log<Int>()
        let priorities = (0..<200).map { CommandPriority.allCases[$0 * 3 % 5] }
        try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            let group = DispatchGroup()
            let blocker = Blocker(value)
            for index in priorities.indices {
                group.enter()
                value.async(performIn: queue).priority(priorities[index]).set { _ in
                    ran.add(index)
                    group.leave()
                }
            }
            blocker.end()
            group.wait()
        }
        #expect(ran.entries == Self.order(of: priorities))
    }

    /// A queue that is late lets others go first, so one round in order is enough: without an order there is none.
    @Test("Promise 2: so on several queues, with threads and tasks among them")
    func orderOnSeveralQueues() throws {
        let priorities = (0..<20).map { CommandPriority.allCases[$0 * 3 % 5] }
        let isInOrder = try inTime {
            for _ in 0..<20 {
                let value = QueueSafeValue(value: 0)
                let queues = (0..<2).map { DispatchQueue(label: "\($0)") }
                let ran = Log<Int>()
                let blocker = Blocker(value)
                for index in priorities.indices {
                    let priority = priorities[index]
                    switch index % 4 {
                    case 0: _ = RunningThread { value.wait.priority(priority).set { _ in ran.add(index) } }
                    case 1: OwnThreads.run { await value.async.priority(priority).set { _ in ran.add(index) } }
                    default: value.async(performIn: queues[index % 2]).priority(priority).set { _ in ran.add(index) }
                    }
                    // The next comes when this one stands in line.
                    try value.waitForPending(index + 1)
                }
                for queue in queues { queue.sync {} }
                blocker.end()
                try poll("all have run") { ran.count == priorities.count }
                if ran.entries == Self.order(of: priorities) { return true }
            }
            return false
        }
        #expect(isInOrder)
    }

    private static func order(of priorities: [CommandPriority]) -> [Int] {
        CommandPriority.allCases.reversed().flatMap { level in priorities.indices.filter { priorities[$0] == level } }
    }

    // MARK: 3, place

    @Test("Promise 3: a `wait` closure runs on the thread that called, an `async` one and its completion on its queue")
    func place() throws {
        let misplaced = Log<String>()
        try inTime { [key = Self.key] in
            let value = QueueSafeValue(value: 0)
            let queues = (0..<4).map { index in
                let queue = DispatchQueue(label: "\(index)")
                queue.setSpecific(key: key, value: index)
                return queue
            }
            let group = DispatchGroup()
            onThreads(4) { index in
                let check: @Sendable (String) -> Void = { text in
                    if DispatchQueue.getSpecific(key: key) != index { misplaced.add(text) }
                }
                for _ in 0..<100 {
                    let caller = ThreadID.current
                    for _ in 0..<2 { group.enter() }
                    value.async(performIn: queues[index]).lowestPriority.set { _ in
                        check("async")
                    } completion: { _ in
                        check("completion")
                        group.leave()
                    }
                    value.async(performIn: queues[index]).highestPriority.set { _, done in
                        check("manual")
                        queues[(index + 1) % 4].async { done() }
                    } completion: { _ in
                        check("manual's completion")
                        group.leave()
                    }
                    value.wait.lowestPriority.set { _ in if ThreadID.current != caller { misplaced.add("wait") } }
                    value.wait.highestPriority.get { _ in if ThreadID.current != caller { misplaced.add("get") } }
                    value.wait.mediumPriority.set { _, done in
                        if ThreadID.current != caller { misplaced.add("wait, manual") }
                        done()
                    }
                }
            }
            group.wait()
        }
        #expect(misplaced.entries.isEmpty)
    }

    @Test("Promise 3: an awaited closure runs in the task that awaits it, with its task-local values")
    func taskLocalValues() async {
        let value = QueueSafeValue(value: 0)
        let kept = Protected(0)
        let tasks = (0..<8).map { index in
            Self.$name.withValue(index) {
                OwnThreads.run {
                    for _ in 0..<50 {
                        await value.async.lowestPriority.set { _ in
                            if Self.name == index { kept.write { $0 += 1 } }
                        }
                        await value.async.lowestPriority.set { _ in
                            // So that the others stand in line.
                            await Task.yield()
                            if Self.name == index { kept.write { $0 += 1 } }
                        }
                    }
                }
            }
        }
        for task in tasks { await task.value }
        #expect(kept.wrappedValue == 800)
    }
}

/// Commands use this together, and only their turn guards it.
private final class Inside: @unchecked Sendable {
    private(set) var visits = 0
    private(set) var wasNeverShared = true
    private var isVisited = false

    func enter() {
        if isVisited { wasNeverShared = false }
        isVisited = true
        visits += 1
    }

    func leave() {
        if !isVisited { wasNeverShared = false }
        isVisited = false
    }

    func visit() {
        enter()
        sched_yield()
        leave()
    }
}
