//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import ThreadSafeValue
import Workloads

/// How long a command of the highest priority takes while 10,000 of the lowest wait.
struct Latency {
    let name: String
    let isOurs: Bool
    /// In nanoseconds, one for each backlog.
    private(set) var times: [Double] = []
    private let measure: @Sendable () -> UInt64

    static let backlog = 10_000

    static func measure(_ effort: Effort) -> [Latency] {
        var latencies = [
            Latency(name: "wait.highestPriority.get()", isOurs: true, measure: waitCommand),
            Latency(name: "async.highestPriority.get { }", isOurs: true, measure: asyncCommand),
            Latency(name: "DispatchQueue.sync", isOurs: false, measure: serialQueue),
        ]
        for _ in 0..<effort.latencies {
            for index in latencies.indices {
                let measure = latencies[index].measure
                latencies[index].times.append(Double(onThreads(in: .alone) { _ in measure() }[0]))
            }
        }
        return latencies
    }
}

// One backlog each. The clock starts when the backlog does.
extension Latency {
    @Sendable
    private static func waitCommand() -> UInt64 {
        withBacklog { value, _, begin in
            let start = nanoseconds()
            begin()
            if case .success(let number) = value.wait.highestPriority.get() { use(number) }
            return nanoseconds() - start
        }
    }

    @Sendable
    private static func asyncCommand() -> UInt64 {
        withBacklog { value, queue, begin in
            let end = Handed<UInt64>()
            let start = nanoseconds()
            begin()
            value.async(performIn: queue).highestPriority.get { _ in end.hand(nanoseconds()) }
            return end.take() - start
        }
    }

    private static func withBacklog(
        _ body: (QueueSafeValue<Int>, DispatchQueue, _ begin: () -> Void) -> UInt64
    ) -> UInt64 {
        let value = QueueSafeValue(value: 0)
        let queue = DispatchQueue(label: "target")
        let begin = hold(value, on: queue)
        for _ in 0..<backlog { value.async(performIn: queue).lowestPriority.set { $0 &+= 1 } }
        let end = DispatchSemaphore(value: 0)
        value.async(performIn: queue).lowestPriority.get { _ in end.signal() }
        let time = body(value, queue, begin)
        end.wait()
        return time
    }

    /// What has no priorities: the urgent one is last.
    @Sendable
    private static func serialQueue() -> UInt64 {
        let count = Handed<Int>(0)
        let queue = DispatchQueue(label: "target")
        queue.async { Setting.alone.placeWorker() }
        queue.sync {}
        queue.suspend()
        for _ in 0..<backlog { queue.async { count.value! &+= 1 } }
        let start = nanoseconds()
        queue.resume()
        queue.sync { use(count.value!) }
        return nanoseconds() - start
    }
}

/// Takes the turn of `value` with a command that keeps it.
///
/// - Returns: what ends the command.
func hold(_ value: QueueSafeValue<Int>, on queue: DispatchQueue) -> CommandCompletionClosure {
    let holder = Handed<CommandCompletionClosure>()
    queue.async { Setting.alone.placeWorker() }
    value.async(performIn: queue).highestPriority.set { _, done in holder.hand(done) }
    return holder.take()
}

/// Something that one thread makes and another one waits for.
final class Handed<Value>: @unchecked Sendable {
    private let isThere = DispatchSemaphore(value: 0)
    // Touched by one thread, and after `isThere` by the other.
    var value: Value?

    init(_ value: Value? = nil) {
        self.value = value
    }

    func hand(_ value: Value) {
        self.value = value
        isThere.signal()
    }

    func take() -> Value {
        isThere.wait()
        return value.take()!
    }
}
