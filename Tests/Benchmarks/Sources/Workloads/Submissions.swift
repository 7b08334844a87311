//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Synchronization
import ThreadSafeValue

extension Contest {
    /// Submitting many changes without waiting for each, then waiting until all of them are done on a serial queue.
    package static let submissions = Contest(
        name: "submit",
        contestants: [
            ours("async.set { }") { value, queue, _, operations in
                for _ in 0..<operations { value.async(performIn: queue).lowestPriority.set { $0 &+= 1 } }
            },
            ours("async.set { } completion: { }") { value, queue, told, operations in
                for _ in 0..<operations {
                    value.async(performIn: queue).lowestPriority.set {
                        $0 &+= 1
                    } completion: { _ in
                        told.number &+= 1
                    }
                }
            },
            ours("async.set { done in }") { value, queue, _, operations in
                for _ in 0..<operations {
                    value.async(performIn: queue).lowestPriority.set { number, done in
                        number &+= 1
                        done()
                    }
                }
            },
            Contestant("DispatchQueue.async + lock", batch: batch) { setting in
                let box = MutexBox()
                let queue = DispatchQueue(label: "target")
                return Round { operations in
                    drain(queue, in: setting) {
                        for _ in 0..<operations { queue.async { box.value.withLock { $0 &+= 1 } } }
                    }
                } changes: {
                    box.value.withLock { $0 }
                }
            },
            Contestant("DispatchQueue.async + lock, completion", batch: batch) { setting in
                let box = MutexBox()
                let queue = DispatchQueue(label: "target")
                let told = Told()
                return Round { operations in
                    drain(queue, in: setting) {
                        for _ in 0..<operations {
                            complete(on: queue, with: box) { _ in told.number &+= 1 }
                        }
                    }
                } changes: {
                    box.value.withLock { $0 }
                }
            },
            Contestant("Task + actor", batch: batch) { setting in
                let value = ActorBox()
                return Round { operations in
                    wait(in: setting) {
                        await withDiscardingTaskGroup { group in
                            for _ in 0..<operations { group.addTask { await value.add() } }
                        }
                    }
                }
            },
        ],
        settings: [.alone, .pair]
    )

    private static let batch = 10_000

    private static func ours(
        _ name: String,
        _ submit: @escaping @Sendable (QueueSafeValue<Int>, DispatchQueue, Told, _ operations: Int) -> Void
    ) -> Contestant {
        Contestant(name, isOurs: true, batch: batch) { setting in
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            let told = Told()
            return Round { operations in
                let end = DispatchSemaphore(value: 0)
                queue.async { setting.placeWorker() }
                submit(value, queue, told, operations)
                // Goes behind the commands of this thread, and its completion behind theirs.
                value.async(performIn: queue).lowestPriority.get { _ in end.signal() }
                end.wait()
            } changes: {
                value.total
            }
        }
    }

    /// What people write who want an answer from a queue: the completion takes part in the closure.
    private static func complete(
        on queue: DispatchQueue,
        with box: MutexBox,
        _ completion: @escaping @Sendable (Result<Int, any Error>) -> Void
    ) {
        queue.async {
            let number = box.value.withLock {
                $0 &+= 1
                return $0
            }
            completion(.success(number))
        }
    }

    private static func drain(_ queue: DispatchQueue, in setting: Setting, submitting submit: () -> Void) {
        let end = DispatchSemaphore(value: 0)
        queue.async { setting.placeWorker() }
        submit()
        queue.async { end.signal() }
        end.wait()
    }
}

/// What completions count.
private final class Told: @unchecked Sendable {
    // Touched on a serial queue only.
    var number = 0
}
