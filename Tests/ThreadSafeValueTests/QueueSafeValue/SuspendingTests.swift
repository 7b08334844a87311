//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("Suspending a queue-safe value")
struct SuspendingTests {
    @Test func `Accepted commands wait until resume and then run in order`() {
        let value = QueueSafeValue(value: [Int]())
        value.suspend()
        let finished = DispatchSemaphore(value: 0)
        for number in 1...5 {
            value.async(performIn: .utility).mediumPriority.set { $0.append(number) }
        }
        value.async(performIn: .utility).highestPriority.set { $0.append(0) }
        value.async(performIn: .utility).lowestPriority.get { _ in finished.signal() }
        #expect(value.wait(timeout: .milliseconds(20)).highestPriority.get() == .failure(.timedOut))
        #expect(finished.wait(timeout: .now()) == .timedOut)
        #expect((try? value.resume().get()) != nil)
        finished.wait()
        #expect(value.wait.lowestPriority.get() == .success([0, 1, 2, 3, 4, 5]))
    }

    @Test func `The running command completes, and the rest of its run waits`() {
        let value = QueueSafeValue(value: 0)
        let finished = DispatchSemaphore(value: 0)
        value.wait.highestPriority.set { _ in
            value.async(performIn: .utility).highestPriority.set { number in
                number += 1
                value.suspend()
                finished.signal()
            }
            for _ in 0..<10 { value.async(performIn: .utility).highestPriority.set { $0 += 1 } }
        }
        finished.wait()
        #expect(value.wait(timeout: .milliseconds(20)).highestPriority.get() == .failure(.timedOut))
        value.resume()
        value.async(performIn: .utility).lowestPriority.get { result in
            #expect(result == .success(11))
            finished.signal()
        }
        finished.wait()
    }

    @Test func `Each suspend needs a resume, and one too many answers`() {
        let value = QueueSafeValue(value: 0)
        guard case .failure(.notSuspended) = value.resume() else {
            Issue.record("resumed without a suspend")
            return
        }
        value.suspend()
        value.suspend()
        value.resume()
        #expect(value.wait(timeout: .seconds(0)).highestPriority.get() == .failure(.timedOut))
        value.resume()
        #expect(value.wait(timeout: .seconds(0)).highestPriority.get() == .success(0))
    }

    @Test func `Commands of a suspended value that nobody holds any more answer that it is gone`() {
        let finished = DispatchSemaphore(value: 0)
        do {
            let value = QueueSafeValue(value: 7)
            value.suspend()
            value.async(performIn: .utility).lowestPriority.get { result in
                #expect(result == .failure(.valueContainerDeinited))
                finished.signal()
            }
        }
        #expect(finished.wait(timeout: .now() + 300) == .success)
    }

    @Test func `A parked thread goes on after resume`() {
        let value = QueueSafeValue(value: 0)
        value.suspend()
        let finished = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            #expect(value.wait.lowestPriority.set { $0 += 1 } == .success(1))
            finished.signal()
        }
        #expect(finished.wait(timeout: .now() + .milliseconds(20)) == .timedOut)
        value.resume()
        finished.wait()
    }

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
            try poll("the rest waits") { value.pendingCommandCount() == 199 - suspending }
            #expect(ran.entries == Array(0...suspending))
            value.resume()
            try poll("all have run") { ran.count == 200 }
        }
        #expect(ran.entries == Array(0..<200))
    }
}
