//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CMachine
import Dispatch
import ThreadSafeValue
import Workloads

/// What it costs that many commands wait, each in time and memory.
struct Pending {
    static let few = 1_000
    static let many = 1_000_000

    let name: String
    let isOurs: Bool
    private(set) var few: [Cost] = []
    private(set) var many: [Cost] = []
    private(set) var bytesOfFew = 0.0
    private(set) var bytesOfMany = 0.0
    private let measure: @Sendable (_ count: Int, _ withBytes: Bool) -> Cost

    static func measure(_ effort: Effort) -> [Pending] {
        var all = [
            Pending(name: "async.set { }", isOurs: true, measure: commands),
            Pending(name: "DispatchQueue.async", isOurs: false, measure: blocks),
        ]
        // Apart from the times, as it takes long to count what the heap has handed out.
        for index in all.indices {
            let measure = all[index].measure
            all[index].bytesOfFew = onThreads(in: .alone) { _ in measure(Self.few, true).bytes }[0]
            all[index].bytesOfMany = onThreads(in: .alone) { _ in measure(Self.many, true).bytes }[0]
        }
        for _ in 0..<effort.pendingRounds {
            for index in all.indices {
                let measure = all[index].measure
                let (few, many) = onThreads(in: .alone) { _ in
                    // As many commands, so that the clock counts as well.
                    let costs = (0..<Self.many / Self.few).map { _ in measure(Self.few, false) }
                    return (Cost(mean: costs), measure(Self.many, false))
                }[0]
                all[index].few.append(few)
                all[index].many.append(many)
            }
        }
        return all
    }
}

extension Pending {
    struct Cost: Sendable {
        /// Nanoseconds to submit a command and, later, to carry it out.
        var submitting: Double
        var carryingOut: Double
        /// Bytes of the heap while it waits.
        var bytes: Double

        var time: Double { submitting + carryingOut }

        init(submitting: UInt64, carryingOut: UInt64, bytes: UInt64, count: Int) {
            self.submitting = Double(submitting) / Double(count)
            self.carryingOut = Double(carryingOut) / Double(count)
            self.bytes = Double(bytes) / Double(count)
        }

        init(mean costs: [Cost]) {
            submitting = costs.map(\.submitting).reduce(0, +) / Double(costs.count)
            carryingOut = costs.map(\.carryingOut).reduce(0, +) / Double(costs.count)
            bytes = 0
        }
    }

    /// How the time of one of many compares to that of one of few.
    var ratio: Ratio {
        Ratio(zip(many, few).map { $0.time / $1.time })
    }

    @Sendable
    private static func commands(_ count: Int, withBytes: Bool) -> Cost {
        let value = QueueSafeValue(value: 0)
        let queue = DispatchQueue(label: "target")
        let begin = hold(value, on: queue)
        let end = Handed<UInt64>()
        return cost(of: count, withBytes: withBytes) {
            for _ in 1..<count { value.async(performIn: queue).lowestPriority.set { $0 &+= 1 } }
            value.async(performIn: queue).lowestPriority.get { _ in end.hand(nanoseconds()) }
        } carryingOut: {
            begin()
            return end.take()
        }
    }

    @Sendable
    private static func blocks(_ count: Int, withBytes: Bool) -> Cost {
        let number = Handed<Int>(0)
        let queue = DispatchQueue(label: "target")
        queue.async { Setting.alone.placeWorker() }
        queue.sync {}
        queue.suspend()
        let end = Handed<UInt64>()
        return cost(of: count, withBytes: withBytes) {
            for _ in 1..<count { queue.async { number.value! &+= 1 } }
            queue.async { end.hand(nanoseconds()) }
        } carryingOut: {
            queue.resume()
            return end.take()
        }
    }

    private static func cost(
        of count: Int,
        withBytes: Bool,
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
        return Cost(
            submitting: submitted - start,
            carryingOut: end - released,
            bytes: after > before ? after - before : 0,
            count: count
        )
    }
}
