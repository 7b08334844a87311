//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("The handle of an async command")
struct AsyncCommandTests {
    private let queue = DispatchQueue(label: "AsyncCommandTests")
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
        #expect(handle.state == .started)
        #expect(!handle.cancel())
        goOn.signal()
        finished.wait()
        #expect(results.wrappedValue == [.success(1)])
        #expect(!handle.cancel())
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
        #expect(others.map(\.state) == Array(repeating: .started, count: 5) + Array(repeating: .cancelled, count: 5))
    }

    @Test func `A handle does not keep the value alive, and works after it is gone`() {
        weak var object: Marker?
        var handle: HandleOfCommand?
        do {
            let value = QueueSafeValue(value: Marker())
            object = (try? value.wait.highestPriority.get().get())
            handle = value.async(performIn: queue).lowestPriority.set { _ in }
            value.async(performIn: queue).lowestPriority.get { _ in finished.signal() }
            finished.wait()
        }
        queue.sync {}
        #expect(object == nil)
        #expect(handle?.state == .started)
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
        #expect(value.pendingCommandCount == 0)
    }
}

private final class Marker: Sendable {}

@Suite("Looking at the commands that wait, and bounding them")
struct PendingCommandTests {
    @Test func `Commands that wait are counted for each priority`() {
        let value = QueueSafeValue(value: 0)
        value.suspend()
        let queue = DispatchQueue(label: "counted")
        for _ in 0..<3 { value.async(performIn: queue).lowestPriority.set { $0 += 1 } }
        let handle = value.async(performIn: .utility).highPriority.set { $0 += 1 }
        #expect(value.pendingCommandCount == 4)
        #expect(value.pendingCommandCount(.lowest) == 3)
        #expect(value.pendingCommandCount(.high) == 1)
        #expect(value.pendingCommandCount(.medium) == 0)
        handle.cancel()
        #expect(value.pendingCommandCount(.high) == 0)
        value.resume()
        queue.sync {}
        #expect(value.wait.lowestPriority.get() == .success(3))
        #expect(value.pendingCommandCount == 0)
    }

    /// The lane of the queue stays, as not all of its commands leave it.
    @Test func `A command that leaves is not counted for its priority any more`() throws {
        let value = QueueSafeValue(value: 0)
        value.suspend()
        let queue = DispatchQueue(label: "counted")
        let handles = (0..<3).map { _ in value.async(performIn: queue).lowestPriority.set { $0 += 1 } }
        value.async(performIn: queue).highPriority.set { $0 += 1 }
        handles[1].cancel()
        #expect(value.pendingCommandCount(.lowest) == 2)
        #expect(value.pendingCommandCount(.high) == 1)
        #expect(value.wait(timeout: .milliseconds(1)).lowestPriority.get() == .failure(.timedOut))
        #expect(value.pendingCommandCount(.lowest) == 2)
        let thread = RunningThread { value.wait.lowestPriority.set { $0 += 1 } }
        try poll("the thread waits") { value.pendingCommandCount(.lowest) == 3 }
        value.resume()
        thread.join()
        #expect(value.wait.lowestPriority.get() == .success(4))
    }

    @Test func `A value with a bound refuses one command too many, and loses none of the others`() {
        let value = QueueSafeValue(value: 0, pendingCommandLimit: 2)
        value.suspend()
        let results = Protected<[Result<Int, QueueSafeValueError>]>([])
        let finished = DispatchSemaphore(value: 0)
        for _ in 0..<3 {
            value.async(performIn: .utility).lowestPriority.set {
                $0 += 1
            } completion: {
                results.append($0)
                finished.signal()
            }
        }
        finished.wait()
        #expect(results.wrappedValue == [.failure(.commandQueueFull)])
        value.resume()
        finished.wait()
        finished.wait()
        #expect(value.wait.lowestPriority.get() == .success(2))
        #expect(results.wrappedValue.count == 3)
    }
}
