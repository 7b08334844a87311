//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("CommandHandle")
struct CommandHandleTests {
    private let queue = DispatchQueue(label: "CommandHandleTests")
    private let results = Protected<[Result<Int, QueueSafeValueError>]>([])
    private let finished = DispatchSemaphore(value: 0)

    private func note(_ result: Result<Int, QueueSafeValueError>) {
        dispatchPrecondition(condition: .onQueue(queue))
        results.append(result)
        finished.signal()
    }

    @Test func `A command that waits is cancelled once, never runs, and tells its completion on its queue`() {
        let value = QueueSafeValue(value: 0)
        value.suspend()
        let commands = value.async(performIn: queue).highestPriority
        let handles = [
            commands.set(newValue: 1) { note($0) },
            commands.set {
                $0 = 2
            } completion: {
                note($0)
            },
            commands.set {
                $0 = 3; $1()
            } completion: {
                note($0)
            },
            commands.get { note($0) },
            commands.get { result, done in note(result) },
        ]
        for handle in handles {
            #expect(handle.state == .waiting)
            #expect(handle.cancel())
            #expect(handle.state == .cancelled)
            #expect(!handle.cancel())
        }
        for _ in handles { finished.wait() }
        value.resume()
        #expect(value.wait.lowestPriority.get() == .success(0))
        #expect(results.wrappedValue == Array(repeating: .failure(.cancelled), count: 5))
    }

    @Test func `A command that has started is not cancelled`() {
        let value = QueueSafeValue(value: 0)
        let isRunning = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        let handle = value.async(performIn: queue).highestPriority.set {
            isRunning.signal()
            goOn.wait()
            $0 = 1
        } completion: {
            note($0)
        }
        isRunning.wait()
        #expect(handle.state == .running)
        #expect(!handle.cancel())
        goOn.signal()
        finished.wait()
        #expect(results.wrappedValue == [.success(1)])
        #expect(!handle.cancel())
    }

    @Test func `A command that runs has started, says its handle inside it, and those behind it wait`() throws {
        let count = 4
        let states = try inTime {
            let value = QueueSafeValue(value: 0)
            let (handles, states) = (Protected([CommandHandle<Void>]()), Protected([[CommandState]]()))
            let blocker = Blocker(value)
            for _ in 0..<count {
                let handle = value.async(performIn: queue).lowestPriority.set { _ in
                    let now = handles.wrappedValue.map(\.state)
                    states.append(now)
                }
                handles.append(handle)
            }
            // Nothing else waits, so the block may begin all but the first without the lock of the line.
            blocker.end()
            states.wait(until: { $0.count == count })
            return states.wrappedValue
        }
        let expected = (1...count).map { started in
            (0..<count).map { index -> CommandState in
                index < started - 1 ? .finished : index == started - 1 ? .running : .waiting
            }
        }
        #expect(states == expected)
    }

    @Test func `A command that was handed over to run, but did not begin, is cancelled too`() {
        let value = QueueSafeValue(value: 0)
        let isRunning = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        value.suspend()
        value.async(performIn: queue).highestPriority.set { _ in
            isRunning.signal()
            goOn.wait()
        }
        let others = (0..<10).map { _ in value.async(performIn: queue).highestPriority.set { $0 += 1 } }
        value.resume()
        isRunning.wait()
        for handle in others.dropFirst(5) { #expect(handle.cancel()) }
        goOn.signal()
        value.async(performIn: queue).lowestPriority.get { note($0) }
        finished.wait()
        #expect(results.wrappedValue == [.success(5)])
        #expect(others.map(\.state) == Array(repeating: .finished, count: 5) + Array(repeating: .cancelled, count: 5))
    }

    @Test func `A handle does not keep the value alive, and works after it is gone`() {
        weak var object: Marker?
        var handle: CommandHandle<Void>?
        do {
            let value = QueueSafeValue(value: Marker())
            object = (try? value.wait.highestPriority.get().get())
            handle = value.async(performIn: queue).lowestPriority.set { _ in }
            value.async(performIn: queue).lowestPriority.get { _ in finished.signal() }
            finished.wait()
        }
        queue.sync {}
        #expect(object == nil)
        #expect(handle?.state == .finished)
        #expect(handle?.cancel() == false)
    }

    @Test func `The handle of a refused command says so`() {
        let value = QueueSafeValue(value: 0, pendingCommandLimit: 0)
        let handle = value.async(performIn: queue).highestPriority.set(newValue: 1) { note($0) }
        finished.wait()
        #expect(handle.state == .refused)
        #expect(!handle.cancel())
        #expect(results.wrappedValue == [.failure(.commandQueueFull)])
    }

    @Test func `Commands cancelled from many threads are told exactly once`() {
        let value = QueueSafeValue(value: 0)
        let told = Protected(0)
        let cancelled = Protected(0)
        let all = DispatchGroup()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for number in 0..<2_000 {
                all.enter()
                let handle = value.async(performIn: queue).priority(number.isMultiple(of: 2) ? .low : .high).set {
                    $0 += 1
                } completion: { _ in
                    told.write { $0 += 1 }
                    all.leave()
                }
                if number.isMultiple(of: 3), handle.cancel() { cancelled.write { $0 += 1 } }
            }
        }
        all.wait()
        #expect(told.wrappedValue == 8_000)
        #expect(value.wait.lowestPriority.get() == .success(8_000 - cancelled.wrappedValue))
        #expect(value.pendingCommandCount() == 0)
    }

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

private final class Marker: Sendable {}

/// Handles of which one after the other is let go.
///
/// `@unchecked Sendable`: given to one thread, and used by nobody else from then on.
private final class Handles: @unchecked Sendable {
    private var list: [CommandHandle<Void>]

    init(_ list: [CommandHandle<Void>]) {
        self.list = list
    }

    func takeLast() -> CommandHandle<Void>? { list.popLast() }
}
