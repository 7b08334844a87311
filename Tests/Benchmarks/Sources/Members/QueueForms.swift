//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Synchronization
import ThreadSafeValue

/// What completions count.
private final class Told: @unchecked Sendable {
    // Touched on a serial queue only.
    var number = 0
}

package final class AsyncSet: Submitting {
    private let value = QueueSafeValue(value: 0)
    private let queue: DispatchQueue

    package init(to queue: DispatchQueue) {
        self.queue = queue
    }

    @inline(never)
    package func submit(_ amount: Int) {
        value.async(performIn: queue).lowestPriority.set { $0 &+= amount }
    }

    package func submitLast(_ end: @escaping @Sendable () -> Void) { value.submitLast(on: queue, end) }

    package var total: Int { value.total }
}

package final class AsyncSetCompletion: Submitting {
    private let value = QueueSafeValue(value: 0)
    private let queue: DispatchQueue
    private let told = Told()

    package init(to queue: DispatchQueue) {
        self.queue = queue
    }

    @inline(never)
    package func submit(_ amount: Int) {
        let told = told
        value.async(performIn: queue).lowestPriority.set {
            $0 &+= amount
        } completion: { _ in
            told.number &+= amount
        }
    }

    package func submitLast(_ end: @escaping @Sendable () -> Void) { value.submitLast(on: queue, end) }

    package var total: Int { min(value.total, told.number) }
}

package final class AsyncSetDone: Submitting {
    private let value = QueueSafeValue(value: 0)
    private let queue: DispatchQueue

    package init(to queue: DispatchQueue) {
        self.queue = queue
    }

    @inline(never)
    package func submit(_ amount: Int) {
        value.async(performIn: queue).lowestPriority.set { number, done in
            number &+= amount
            done()
        }
    }

    package func submitLast(_ end: @escaping @Sendable () -> Void) { value.submitLast(on: queue, end) }

    package var total: Int { value.total }
}

extension QueueSafeValue<Int> {
    /// Behind the commands of this thread, and its completion behind theirs.
    fileprivate func submitLast(on queue: DispatchQueue, _ end: @escaping @Sendable () -> Void) {
        async(performIn: queue).lowestPriority.get { _ in end() }
    }

    fileprivate var total: Int {
        if case .success(let total) = wait.lowestPriority.get() { total } else { -1 }
    }
}

package final class BlockWithLock: Submitting {
    private let value = Mutex(0)
    private let queue: DispatchQueue

    package init(to queue: DispatchQueue) {
        self.queue = queue
    }

    @inline(never)
    package func submit(_ amount: Int) {
        queue.async { self.value.withLock { $0 &+= amount } }
    }

    package func submitLast(_ end: @escaping @Sendable () -> Void) { queue.async { end() } }

    package var total: Int { value.withLock { $0 } }
}

package final class BlockWithLockCompletion: Submitting {
    private let value = Mutex(0)
    private let queue: DispatchQueue
    private let told = Told()

    package init(to queue: DispatchQueue) {
        self.queue = queue
    }

    @inline(never)
    package func submit(_ amount: Int) {
        let told = told
        add(amount) { _ in told.number &+= amount }
    }

    /// What people write who want an answer: the closure calls the completion.
    @inline(never)
    private func add(_ amount: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
        queue.async {
            let number = self.value.withLock {
                $0 &+= amount
                return $0
            }
            completion(.success(number))
        }
    }

    package func submitLast(_ end: @escaping @Sendable () -> Void) { queue.async { end() } }

    package var total: Int { min(value.withLock { $0 }, told.number) }
}

package final class TaskOnActor: Submitting {
    private actor Number {
        private(set) var value = 0

        func add(_ amount: Int) { value &+= amount }
    }

    private let number = Number()
    private let group = DispatchGroup()

    package init(to queue: DispatchQueue) {}

    @inline(never)
    package func submit(_ amount: Int) {
        group.enter()
        Task {
            await number.add(amount)
            group.leave()
        }
    }

    package func submitLast(_ end: @escaping @Sendable () -> Void) {
        group.notify(queue: .global(), execute: end)
    }

    package var total: Int {
        let end = DispatchSemaphore(value: 0)
        let total = Told()
        Task {
            total.number = await number.value
            end.signal()
        }
        end.wait()
        return total.number
    }
}
