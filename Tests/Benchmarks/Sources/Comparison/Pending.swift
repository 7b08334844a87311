//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CMachine
import Dispatch
import ThreadSafeValue
import Workloads

/// What it costs that many commands wait, each in time and memory.
enum Pending {
    static let few = 1_000
    static let many = 1_000_000

    /// What so many commands cost together.
    struct Cost: Sendable {
        /// Nanoseconds to submit them and, later, to carry them out.
        var time: UInt64
        /// Bytes of the heap while they wait.
        var bytes: UInt64
    }

    typealias Measure = @Sendable (_ count: Int, _ withBytes: Bool) -> Cost

    /// The nanoseconds of one of so many commands.
    static func time(of count: Int, _ measure: @escaping Measure) -> Double {
        // Few commands often, so that the clock counts as well.
        let times = min(max(100_000 / count, 1), 1_000)
        let sum = onThreads(in: .alone) { _ in (0..<times).reduce(0) { sum, _ in sum + measure(count, false).time } }[0]
        return Double(sum) / Double(times * count)
    }

    /// The bytes of one of many commands of ours: apart from the times, as it takes long to count them.
    static var bytes: Double {
        Double(onThreads(in: .alone) { _ in commands(many, withBytes: true).bytes }[0]) / Double(many)
    }

    @Sendable
    static func commands(_ count: Int, withBytes: Bool) -> Cost {
        let value = QueueSafeValue(value: 0)
        let queue = DispatchQueue(label: "target")
        let begin = hold(value, on: queue)
        let end = Handed<UInt64>()
        return cost(withBytes) {
            for _ in 1..<count { value.async(performIn: queue).lowestPriority.set { $0 &+= 1 } }
            value.async(performIn: queue).lowestPriority.get { _ in end.hand(nanoseconds()) }
        } carryingOut: {
            begin()
            return end.take()
        }
    }

    @Sendable
    static func blocks(_ count: Int, withBytes: Bool) -> Cost {
        let value = LockedNumber()
        let queue = DispatchQueue(label: "target")
        queue.async { Setting.alone.placeWorker() }
        queue.sync {}
        queue.suspend()
        let end = Handed<UInt64>()
        return cost(withBytes) {
            for _ in 1..<count { queue.async { value.add() } }
            queue.async { end.hand(nanoseconds()) }
        } carryingOut: {
            queue.resume()
            return end.take()
        }
    }

    private static func cost(
        _ withBytes: Bool,
        submitting submit: () -> Void,
        carryingOut: () -> UInt64
    ) -> Cost {
        let before = withBytes ? machine_heap_in_use() : 0
        let start = nanoseconds()
        submit()
        let submitted = nanoseconds()
        let after = withBytes ? machine_heap_in_use() : 0
        let released = nanoseconds()
        let end = carryingOut()
        return Cost(time: submitted - start + end - released, bytes: after > before ? after - before : 0)
    }
}
