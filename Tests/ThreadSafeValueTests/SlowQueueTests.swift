//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("A target queue that is slow is served, and those that stand still cost little together")
struct SlowQueueTests {
    /// The queue is never free for long: there is always a block of it that takes 12 to 16 ms, as on a main thread that draws.
    /// Every block of the value's comes too late for a turn that is kept for 5 ms, and finds it taken by one of the threads.
    /// A correct value needs a few blocks to learn that, well below 0.2 s.
    @Test(
        "A highest command for a queue whose blocks take 12 to 16 ms begins soon, while threads use the value all the time"
    )
    func threads() throws {
        try expectServed { slow in
            let value = QueueSafeValue(value: 0)
            let isOver = Protected(false)
            let threads = (0..<4).map { _ in
                RunningThread {
                    while !isOver.wrappedValue { value.wait.lowestPriority.set { _ in usleep(5_000) } }
                }
            }
            defer {
                isOver.wrappedValue = true
                for thread in threads { thread.join() }
            }
            return delay(of: value, slow)
        }
    }

    @Test("So it does while hundreds of lowest commands of another queue wait")
    func commands() throws {
        try expectServed { slow in
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "fast")
            let handles = (0..<800).map { _ in
                value.async(performIn: queue).lowestPriority.set { _ in usleep(5_000) }
            }
            defer { for handle in handles { handle.cancel() } }
            return delay(of: value, slow)
        }
    }

    /// How long it takes until a highest command for a slow queue begins, up to a second.
    private func delay(of value: QueueSafeValue<Int>, _ slow: DispatchQueue) -> UInt64 {
        let begun = DispatchSemaphore(value: 0)
        return nanoseconds {
            value.async(performIn: slow).highestPriority.set { _ in begun.signal() }
            _ = begun.wait(timeout: .now() + 1)
        }
    }

    /// Measures a delay several times, with a value of its own each time. A busy machine may spoil some of them.
    private func expectServed(_ delay: @escaping @Sendable (_ slow: DispatchQueue) -> UInt64) throws {
        let delays = try inTime {
            (0..<7).map { _ in
                let slow = SlowQueue()
                defer { slow.end() }
                return delay(slow.queue)
            }
        }
        #expect(delays.sorted()[1] < 350_000_000, "\(delays.map { $0 / 1_000_000 }) ms")
    }

    /// Each value is new, so that no bound is known yet. The least of several times: a busy machine only makes them longer.
    @Test("A thread waits behind 100 suspended queues as long as behind one", arguments: [false, true])
    func suspendedQueues(areOwn: Bool) throws {
        let times = try inTime {
            (0..<5).map { _ in
                let value = QueueSafeValue(value: 0)
                let queues = (0..<100).map { DispatchQueue(label: "\($0)") }
                let submit: @Sendable () -> Void = {
                    for queue in queues {
                        queue.suspend()
                        value.async(performIn: queue).highestPriority.set { $0 += 1 }
                    }
                }
                // Its own earlier commands go before its later ones, unless their queues stand still.
                if areOwn { submit() } else { onThreads(1) { _ in submit() } }
                defer { for queue in queues { queue.resume() } }
                return nanoseconds { value.wait.lowestPriority.set { $0 += 1 } }
            }
        }
        #expect(times.min()! < 60_000_000, "\(times.map { $0 / 1_000_000 }) ms")
    }
}

/// A queue that always has a block of 12 to 16 ms to run, and that of others only in between.
private final class SlowQueue: Sendable {
    let queue = DispatchQueue(label: "slow")
    private let isOver = Protected(false)

    init() {
        let isBusy = Door()
        queue.async { isBusy.open() }
        sendBlock(12_000)
        isBusy.waitUntilOpen()
    }

    private func sendBlock(_ microseconds: UInt32) {
        queue.async { [self] in
            usleep(microseconds)
            if !isOver.wrappedValue { sendBlock(28_000 - microseconds) }
        }
    }

    func end() {
        isOver.wrappedValue = true
    }
}
