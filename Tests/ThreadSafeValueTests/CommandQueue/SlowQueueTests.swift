//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("A queue that is slow is served")
struct SlowQueueTests {
    /// The queue is never free for long: there is always a block of it that takes 12 to 16 ms, as on a main thread that
    /// draws. Every block of the value's comes too late for a turn that is kept for 5 ms, and finds it taken by one of
    /// the threads. A correct value needs a few blocks to learn that, well below 0.2 s.
    @Test(
        "A highest command for a queue whose blocks take 12 to 16 ms begins soon, while threads use the value all along"
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

    /// It was late once, by a second. The turn would be kept for twice that if it counted as late still.
    @Test("A queue that was late is not any more once its blocks start in time, also those of manual commands")
    func manualCommands() throws {
        let answer = try inTime {
            let (value, queue) = (valueWithoutLimit(), DispatchQueue(label: "target"))
            queue.async { usleep(1_000_000) }
            let end = DispatchGroup()
            for _ in 0..<3 {
                end.enter()
                value.async(performIn: queue).lowestPriority.set { number, done in
                    number += 1
                    // The block has looked for the next command by then.
                    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { done() }
                } completion: { _ in
                    end.leave()
                }
            }
            end.wait()
            return waitBehindSuspended(queue, value)
        }
        #expect(answer == .success(3))
    }

    /// The second block, for one command more than a block runs, cannot start before the `deinit` is over.
    @Test("A queue on which the `deinit` of what a command captured takes long is not late")
    func longDeinit() throws {
        let count = HandoffPolicy().batch + 1
        let answer = try inTime {
            let (value, queue, end) = (valueWithoutLimit(), DispatchQueue(label: "target"), Door())
            let blocker = Blocker(value)
            value.async(performIn: queue).lowestPriority.set { [captured = Last { usleep(1_000_000) }] number in
                withExtendedLifetime(captured) { number += 1 }
            }
            for index in 1..<count {
                value.async(performIn: queue).lowestPriority.set { number in
                    number += 1
                    if index == count - 1 { end.open() }
                }
            }
            blocker.end()
            end.waitUntilOpen()
            return waitBehindSuspended(queue, value)
        }
        #expect(answer == .success(count))
    }

    /// The first completion finds out that the queue has no room for a block beside the one that runs it, and takes its
    /// time for that: it must not barge, before the first command in line has waited for long. The other one is that of
    /// the last command of a block, or of one near by.
    @Test("A completion that waits, where the queue has no room for another block, goes on at once", arguments: -2...2)
    func waitsAfterBatch(offset: Int) throws {
        let last = HandoffPolicy().batch + offset
        let answer = try inTime {
            var policy = HandoffPolicy()
            (policy.barging, policy.keeping) = (0, 1_000_000_000)
            let value = QueueSafeValue(value: 0, policy: policy)
            let (queue, end, answers) = (DispatchQueue(label: "target"), DispatchGroup(), Log<Bool>())
            let blocker = Blocker(value)
            for index in 0..<last + 100 {
                end.enter()
                value.async(performIn: queue).lowestPriority.set {
                    $0 += 1
                } completion: { _ in
                    if index == 0 { _ = value.wait.lowestPriority.get() }
                    if index == last {
                        let answer = value.wait(timeout: .milliseconds(500)).lowestPriority.get()
                        answers.add((try? answer.get()) != nil)
                    }
                    end.leave()
                }
            }
            blocker.end()
            end.wait()
            return answers.entries
        }
        #expect(answer == [true])
    }

    /// No turn is kept that long for a queue at first. It is when its blocks have come in vain.
    @Test("A queue whose blocks take 60 ms to start is served on a busy value, though its blocks find the turn taken")
    func verySlow() throws {
        let delays = try inTime {
            let value = QueueSafeValue(value: 0)
            let slow = SlowQueue(60_000, 60_000)
            let isOver = Protected(false)
            let threads = (0..<2).map { _ in
                RunningThread {
                    while !isOver.wrappedValue { value.wait.lowestPriority.set { _ in usleep(2_000) } }
                }
            }
            let delays = (0..<4).map { _ in delay(of: value, slow.queue, limit: 60) }
            isOver.wrappedValue = true
            for thread in threads { thread.join() }
            slow.end()
            return delays
        }
        #expect(delays.max()! < 4_000_000_000, "\(delays.map { $0 / 1_000_000 }) ms")
    }

    /// Its lane is empty between the commands.
    @Test("A queue that has been late is waited for the next time as well")
    func learned() throws {
        let passed = try inTime {
            let value = QueueSafeValue(value: 0)
            let slow = SlowQueue(15_000, 15_000)
            let isOver = Protected(false)
            let threads = (0..<2).map { _ in
                RunningThread {
                    while !isOver.wrappedValue {
                        value.wait.lowPriority.set {
                            usleep(1_000)
                            $0 += 1
                        }
                    }
                }
            }
            var passed: [Int] = []
            for _ in 0..<8 {
                let begun = Log<Int>()
                let before = (try? value.wait.highestPriority.get().get()) ?? 0
                value.async(performIn: slow.queue).highestPriority.set { begun.add($0) }
                try poll("the command has run") { begun.count == 1 }
                passed.append(begun.entries[0] - before)
            }
            isOver.wrappedValue = true
            for thread in threads { thread.join() }
            slow.end()
            return passed
        }
        // The first one teaches. Less than half of the others, as a busy machine may make a queue late beyond the
        // limit.
        #expect(passed.dropFirst().sorted()[3] <= 4, "\(passed)")
    }

    /// Each of its blocks but the first is dispatched by the one before, when that has not quite returned. If the thread
    /// holds the value for a while, one that is late finds the turn taken, and the next one finds the queue free.
    @Test("So is one that has more commands than a block runs in one go", arguments: [0, 500])
    func backlog(microseconds: UInt32) throws {
        let passed = try inTime { try (0..<3).map { _ in try passedBetweenBatches(microseconds).sorted()[5] } }
        // The first ones teach. Otherwise it is twenty each time, or thousands. The least of several times, as a busy
        // machine may make a queue late beyond the limit.
        #expect(passed.min()! <= 5, "\(passed)")
    }

    /// How many commands of a thread, each of which takes so long, begin between two batches of a slow queue, each time.
    private func passedBetweenBatches(_ microseconds: UInt32) throws -> [Int] {
        let batch = HandoffPolicy().batch
        let value = QueueSafeValue(value: 0)
        let queue = DispatchQueue(label: "slow")
        let (begun, isOver, mayBegin) = (Log<Int>(), Protected(false), Door())
        queue.async { mayBegin.waitUntilOpen() }
        for index in 0..<12 * batch {
            value.async(performIn: queue).highestPriority.set { number in
                if index % batch == 0 { queue.async { usleep(15_000) } }
                begun.add(number)
            }
        }
        let thread = RunningThread {
            while !isOver.wrappedValue {
                value.wait.lowestPriority.set {
                    if microseconds > 0 { usleep(microseconds) }
                    $0 += 1
                }
            }
        }
        mayBegin.open()
        try poll("all commands have run") { begun.count == 12 * batch }
        isOver.wrappedValue = true
        thread.join()
        return (1..<12).map { begun.entries[$0 * batch] - begun.entries[$0 * batch - 1] }
    }

    /// Each of the queues is busy with what a completion does. The least of several times.
    @Test("A thread waits behind 40 queues that are busy with completions as long as behind one")
    func busyCompletions() throws {
        let times = try inTime {
            (0..<5).map { _ in
                let value = QueueSafeValue(value: 0)
                let queues = (0..<40).map { DispatchQueue(label: "\($0)") }
                let (mayEnd, areBusy) = (Door(), DispatchSemaphore(value: 0))
                for queue in queues {
                    value.async(performIn: queue).highestPriority.set {
                        $0 += 1
                    } completion: { _ in
                        areBusy.signal()
                        mayEnd.waitUntilOpen()
                    }
                }
                for _ in queues { areBusy.wait() }
                onThreads(1) { _ in
                    for queue in queues { value.async(performIn: queue).highestPriority.set { $0 += 1 } }
                }
                defer { mayEnd.open() }
                return nanoseconds { value.wait.lowestPriority.set { $0 += 1 } }
            }
        }
        // One after the other they would take 200 ms.
        #expect(times.min()! < 150_000_000, "\(times.map { $0 / 1_000_000 }) ms")
    }

    /// A block of 15 ms follows each command for the slow queue.
    @Test("A command for a queue that is known to be slow keeps its place among equals")
    func keepsItsPlace() throws {
        let inOrder = try inTime {
            let value = QueueSafeValue(value: [Int]())
            let (slow, fast) = (SlowQueue(15_000, 15_000), DispatchQueue(label: "fast"))
            for _ in 0..<12 {
                let end = DispatchGroup()
                for (index, queue) in [slow.queue, fast].enumerated() {
                    end.enter()
                    value.async(performIn: queue).mediumPriority.set {
                        $0.append(index)
                    } completion: { _ in
                        end.leave()
                    }
                }
                end.wait()
            }
            slow.end()
            let begun = (try? value.wait.mediumPriority.get().get()) ?? []
            return stride(from: 0, to: begun.count, by: 2).map { begun[$0] == 0 }
        }
        // The first ones teach. Not each of the others, as a busy machine may make a queue late beyond the limit.
        #expect(inOrder.dropFirst(2).count { $0 } >= 5, "\(inOrder)")
    }

    /// Each command for the slow queue comes behind 60 ms of commands, and more come all along. Its block is dispatched
    /// when those have run, and comes up to 16 ms later.
    @Test("A queue whose blocks take 16 ms is served behind a backlog of its equals on a fast queue")
    func behindBacklog() throws {
        let count = 40
        let begun = try inTime {
            let value = QueueSafeValue(value: 0)
            let slow = SlowQueue(16_000, 16_000)
            let backlog = Backlog(of: value, 30, 2_000)
            let begun = Protected(0)
            for _ in 0..<count {
                value.async(performIn: slow.queue).mediumPriority.set { _ in begun.wrappedValue += 1 }
                usleep(50_000)
            }
            backlog.end()
            slow.end()
            return begun.wrappedValue
        }
        // All but the last few. Half of them, as a busy machine may make a queue late beyond the limit.
        #expect(begun >= count / 2, "\(begun) of \(count)")
    }

    /// Those for each queue come from a thread of their own, every 20 ms. If the queues were waited for one after the
    /// other, a third of the commands would run, and the thread would wait for seconds.
    @Test("Equals for six queues whose blocks take 30 ms are served, and a thread beside them")
    func slowEquals() throws {
        let count = 75
        let (begun, longest) = try inTime {
            let value = QueueSafeValue(value: 0)
            let queues = (0..<6).map { _ in SlowQueue(30_000, 30_000) }
            let (begun, isOver, longest) = (Protected(0), Protected(false), Protected(UInt64(0)))
            let submitters = queues.map { slow in
                RunningThread {
                    for _ in 0..<count {
                        value.async(performIn: slow.queue).mediumPriority.set { _ in begun.wrappedValue += 1 }
                        usleep(20_000)
                    }
                }
            }
            let thread = RunningThread {
                while !isOver.wrappedValue {
                    let time = nanoseconds { value.wait.mediumPriority.set { $0 += 1 } }
                    longest.write { $0 = max($0, time) }
                    usleep(1_000)
                }
            }
            for submitter in submitters { submitter.join() }
            let all = begun.wrappedValue
            isOver.wrappedValue = true
            thread.join()
            for slow in queues { slow.end() }
            return (all, longest.wrappedValue)
        }
        #expect(begun > 6 * count / 2, "\(begun) of \(6 * count)")
        #expect(longest < 1_000_000_000, "\(longest / 1_000_000) ms")
    }

    /// The turn is kept for both queues as long as it takes. If the blocks of one could begin what comes behind a
    /// command of the same thread for the other, most commands would be out of place.
    @Test("Equals of one thread for two queues that are slow keep their order")
    func ownEquals() throws {
        let outOfPlace = try inTime { try (0..<5).map { _ in try ownEqualsOutOfPlace(of: 40) } }
        // The least of several times, as a busy machine may make a queue later than it was before.
        #expect(outOfPlace.min()! <= 4, "\(outOfPlace)")
    }

    private func ownEqualsOutOfPlace(of count: Int) throws -> Int {
        let value = valueWithoutLimit()
        let queues = [SlowQueue(15_000, 15_000), SlowQueue(11_000, 11_000)]
        defer { for slow in queues { slow.end() } }
        let begun = Log<Int>()
        // The first ones teach.
        for index in 0..<8 {
            let end = DispatchSemaphore(value: 0)
            value.async(performIn: queues[index % 2].queue).mediumPriority.set { _ in end.signal() }
            value.wait.lowestPriority.set { $0 += 1 }
            end.wait()
        }
        for index in 0..<count {
            value.async(performIn: queues[index % 2].queue).mediumPriority.set { _ in begun.add(index) }
            usleep(3_000)
        }
        try poll("all commands have run") { begun.count == count }
        return begun.entries.enumerated().count { $0 != $1 }
    }

    /// It keeps a free turn for a millisecond, or for twice as long as a queue took, however long that was.
    private func valueWithoutLimit() -> QueueSafeValue<Int> {
        var policy = HandoffPolicy()
        (policy.keeping, policy.keepingLimit) = (1_000_000, 600_000_000_000)
        return QueueSafeValue(value: 0, policy: policy)
    }

    /// What a thread gets that waits for 1.5 seconds behind a command for a queue that is suspended.
    private func waitBehindSuspended(
        _ queue: DispatchQueue,
        _ value: QueueSafeValue<Int>
    ) -> Result<Int, QueueSafeValueError> {
        // A block that runs would take one more command.
        queue.sync {}
        queue.suspend()
        defer { queue.resume() }
        value.async(performIn: queue).highestPriority.set { $0 += 1 }
        return value.wait(timeout: .milliseconds(1_500)).lowestPriority.get()
    }

    /// How long it takes until a highest command for a slow queue begins, up to a second, or to a limit in seconds.
    private func delay(of value: QueueSafeValue<Int>, _ slow: DispatchQueue, limit: Double = 1) -> UInt64 {
        let begun = DispatchSemaphore(value: 0)
        return nanoseconds {
            value.async(performIn: slow).highestPriority.set { _ in begun.signal() }
            _ = begun.wait(timeout: .now() + limit)
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

    /// Each value is new, so that no bound is known yet. The least of several times: a busy machine only makes them
    /// longer.
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
        // One after the other they would take 500 ms.
        #expect(times.min()! < 250_000_000, "\(times.map { $0 / 1_000_000 }) ms")
    }
}

/// A queue that always has a block of 12 to 16 ms to run, or of other times in turn, and that of others only in
/// between.
private final class SlowQueue: Sendable {
    let queue = DispatchQueue(label: "slow")
    private let isOver = Protected(false)

    init(_ microseconds: UInt32 = 12_000, _ others: UInt32 = 16_000) {
        let isBusy = Door()
        queue.async { isBusy.open() }
        sendBlock(microseconds, others)
        isBusy.waitUntilOpen()
    }

    private func sendBlock(_ microseconds: UInt32, _ others: UInt32) {
        queue.async { [self] in
            usleep(microseconds)
            if !isOver.wrappedValue { sendBlock(others, microseconds) }
        }
    }

    func end() {
        isOver.wrappedValue = true
    }
}

/// Commands of medium priority for a queue, each of which submits the next, so that there are always as many in line.
private final class Backlog: Sendable {
    private let value: QueueSafeValue<Int>
    private let queue = DispatchQueue(label: "fast")
    private let microseconds: UInt32
    private let isOver = Protected(false)

    init(of value: QueueSafeValue<Int>, _ length: Int, _ microseconds: UInt32) {
        (self.value, self.microseconds) = (value, microseconds)
        for _ in 0..<length { submit() }
    }

    private func submit() {
        value.async(performIn: queue).mediumPriority.set { [self] _ in
            usleep(microseconds)
            if !isOver.wrappedValue { submit() }
        }
    }

    func end() {
        isOver.wrappedValue = true
    }
}
