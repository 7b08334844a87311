//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CMachine
import Dispatch
import Foundation
import Synchronization
import ThreadSafeValue

// Loads of real code that grow: each gives the nanoseconds of one operation.

// MARK: A thread that waits beside a thread that submits

enum BesideWait {
    private static let count = 20_000

    /// One thread submits; the others change the value too, and wait for each change.
    static func commands(_ threads: Int) -> Double {
        let value = QueueSafeValue(value: 0)
        let queue = DispatchQueue(label: "target")
        return time(threads) {
            value.async(performIn: queue).lowestPriority.set { $0 &+= 1 }
        } change: {
            value.wait.lowestPriority.set { $0 &+= 1 }
        } last: { end in
            value.async(performIn: queue).lowestPriority.get { _ in end.signal() }
        }
    }

    static func blocks(_ threads: Int) -> Double {
        let value = LockedNumber()
        let queue = DispatchQueue(label: "target")
        return time(threads) {
            queue.async { value.add() }
        } change: {
            value.add()
        } last: { end in
            queue.async { end.signal() }
        }
    }

    private static func time(
        _ threads: Int,
        submit: @escaping @Sendable () -> Void,
        change: @escaping @Sendable () -> Void,
        last: (DispatchSemaphore) -> Void
    ) -> Double {
        let start = nanoseconds()
        let others = DispatchGroup()
        for index in 0..<threads {
            DispatchQueue(label: "thread").async(group: others) {
                for _ in 0..<count { index == 0 ? submit() : change() }
            }
        }
        others.wait()
        let end = DispatchSemaphore(value: 0)
        last(end)
        end.wait()
        return Double(nanoseconds() - start) / Double(count)
    }
}

// MARK: Commands for several queues, in turn

enum DeepLanes {
    private static let count = 8_000

    static func commands(_ lanes: Int) -> Double {
        let value = QueueSafeValue(value: 0)
        let (queues, all) = (queues(lanes), DispatchGroup())
        value.suspend()
        for index in 0..<count {
            all.enter()
            value.async(performIn: queues[index % lanes]).lowestPriority.set {
                $0 &+= 1
            } completion: { _ in
                all.leave()
            }
        }
        let start = nanoseconds()
        value.resume()
        all.wait()
        return Double(nanoseconds() - start) / Double(count)
    }

    static func blocks(_ lanes: Int) -> Double {
        let value = LockedNumber()
        let (queues, all) = (queues(lanes), DispatchGroup())
        for queue in queues { queue.suspend() }
        for index in 0..<count {
            all.enter()
            queues[index % lanes].async {
                value.add()
                all.leave()
            }
        }
        let start = nanoseconds()
        for queue in queues { queue.resume() }
        all.wait()
        return Double(nanoseconds() - start) / Double(count)
    }

    /// The same order without a value: each block submits the next one.
    static func chain(_ lanes: Int) -> Double {
        let (number, queues, end) = (LockedNumber(), queues(lanes), DispatchSemaphore(value: 0))
        @Sendable func start(_ index: Int) {
            queues[index % lanes].async {
                number.add()
                if index + 1 == count { end.signal() } else { start(index + 1) }
            }
        }
        let begin = nanoseconds()
        start(0)
        end.wait()
        return Double(nanoseconds() - begin) / Double(count)
    }

    private static func queues(_ count: Int) -> [DispatchQueue] {
        (0..<count).map { _ in DispatchQueue(label: "target") }
    }
}

// MARK: Async closures

enum AsyncClosures {
    static let few = 2_000
    static let many = 16_000

    /// All wait, and then run.
    static func commands(_ count: Int) -> Double {
        let value = QueueSafeValue(value: 0)
        let begin = hold(value, on: DispatchQueue(label: "holder"))
        return time(count) {
            _ = await value.async.lowestPriority.set { number in
                await Task.yield()
                number &+= 1
            }
        } begin: {
            while value.pendingCommandCount() < count { usleep(100) }
            begin()
        }
    }

    static func byHand(_ count: Int) -> Double {
        let (pool, number) = (HandPool(free: 0), LockedNumber())
        return time(count) {
            await pool.take()
            await Task.yield()
            number.add()
            pool.give()
        } begin: {
            while pool.waitingCount < count { usleep(100) }
            pool.give()
        }
    }

    private static func time(
        _ count: Int,
        _ body: @escaping @Sendable () async -> Void,
        begin: () -> Void
    ) -> Double {
        let end = DispatchSemaphore(value: 0)
        Task {
            await withDiscardingTaskGroup { group in
                for _ in 0..<count { group.addTask { await body() } }
            }
            end.signal()
        }
        begin()
        let start = nanoseconds()
        end.wait()
        return Double(nanoseconds() - start) / Double(count)
    }
}

// MARK: Tasks that wait for the one connection

enum OneConnection {
    static let few = 100
    static let many = 800

    static func conditions(_ tasks: Int) -> Double {
        let idle = Protected([1])
        return time(tasks) {
            try? await idle.write(when: { !$0.isEmpty }) { $0.removeLast() }
        } give: {
            idle.append($0)
        }
    }

    static func byHand(_ tasks: Int) -> Double {
        let pool = HandPool(free: 1)
        return time(tasks) {
            await pool.take()
            return 1
        } give: { _ in
            pool.give()
        }
    }

    /// The processor time of a task, which has the connection for a tenth of a millisecond.
    private static func time(
        _ tasks: Int,
        take: @escaping @Sendable () async -> Int?,
        give: @escaping @Sendable (Int) -> Void
    ) -> Double {
        let before = machine_processor_time()
        let end = DispatchSemaphore(value: 0)
        Task {
            await withDiscardingTaskGroup { group in
                for _ in 0..<tasks {
                    group.addTask {
                        guard let connection = await take() else { return }
                        try? await Task.sleep(nanoseconds: 100_000)
                        give(connection)
                    }
                }
            }
            end.signal()
        }
        end.wait()
        return Double(machine_processor_time() - before) / Double(tasks)
    }
}

/// What people write who know continuations: tasks get it in the order in which they came.
private final class HandPool: Sendable {
    private let state: Mutex<(free: Int, waiting: [CheckedContinuation<Void, Never>], next: Int)>

    init(free: Int) {
        state = Mutex((free, [], 0))
    }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free == 0 {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func give() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            if state.next == state.waiting.count {
                state.free += 1
                return nil
            }
            state.next += 1
            return state.waiting[state.next - 1]
        }
        next?.resume()
    }
}
