//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Synchronization
import ThreadSafeValue
import Workloads

/// What a command costs, to submit and to run, while many other target queues have a command in line.
enum ManyTargets {
    static let many = 10_000
    private static let count = 200

    /// The nanoseconds of one of so many commands to a queue, while the other queues wait.
    static func time(
        of queues: Int,
        _ measure: @escaping @Sendable (_ queue: DispatchQueue, _ others: [DispatchQueue]) -> UInt64
    ) -> Double {
        let time = onThreads(in: .alone) { _ in
            let queue = DispatchQueue(label: "measured")
            queue.async { Setting.alone.placeWorker() }
            return measure(queue, (0..<queues).map { _ in DispatchQueue(label: "waiting") })
        }[0]
        return Double(time) / Double(count)
    }

    /// The last of the commands, which are of the highest priority, suspends the value again: the others' never run.
    @Sendable
    static func commands(_ queue: DispatchQueue, _ others: [DispatchQueue]) -> UInt64 {
        let value = QueueSafeValue(value: 0)
        value.suspend()
        let handles = others.map { other in
            let handle = value.async(performIn: other).lowestPriority.set { $0 &+= 1 }
            // The block that looks for the turn, and finds the value suspended, is over.
            other.sync {}
            return handle
        }
        let end = Handed<UInt64>()
        let start = nanoseconds()
        for _ in 1..<count { value.async(performIn: queue).highestPriority.set { $0 &+= 1 } }
        value.async(performIn: queue).highestPriority.set { number in
            number &+= 1
            value.suspend()
            end.hand(nanoseconds())
        }
        value.resume()
        let time = end.take() - start
        for handle in handles { handle.cancel() }
        return time
    }

    @Sendable
    static func blocks(_ queue: DispatchQueue, _ others: [DispatchQueue]) -> UInt64 {
        let value = LockedNumber()
        for other in others {
            other.suspend()
            other.async { value.add() }
        }
        let end = Handed<UInt64>()
        let start = nanoseconds()
        queue.suspend()
        for _ in 1..<count { queue.async { value.add() } }
        queue.async { end.hand(nanoseconds()) }
        queue.resume()
        let time = end.take() - start
        for other in others { other.resume() }
        return time
    }
}

/// A number that blocks of several queues change.
final class LockedNumber: Sendable {
    private let number = Mutex(0)

    func add() {
        number.withLock { $0 &+= 1 }
    }
}
