//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

/// Every queue has a command that waits, of lowest priority, so each has a place in line. The same commands of one more queue, or
/// of the thread, are timed with one such queue and with 10,000. The least of several times each, and some allowance for memory
/// that is not in the processor's cache: what is to be found out is whether a command looks at each queue.
@Suite("A command costs the same with one target queue and with 10,000", .serialized)
struct CostOfManyTests {
    private static let commands = 200

    @Test("To submit one")
    func submission() throws {
        try expectSame { value, queue, _ in
            nanoseconds {
                for _ in 0..<Self.commands { value.async(performIn: queue).lowestPriority.set { $0 += 1 } }
            }
        }
    }

    @Test("To submit one to each of many queues that have commands already")
    func submissionToMany() throws {
        try expectSame { value, _, queues in
            nanoseconds {
                for index in 0..<Self.commands {
                    value.async(performIn: queues[index % queues.count]).lowestPriority.set { $0 += 1 }
                }
            }
        }
    }

    /// The commands need the value's turn and nothing else: the last of them suspends the value again.
    @Test("To run one")
    func run() throws {
        try expectSame { value, queue, _ in
            let times = Log<UInt64>()
            let end = Door()
            for index in 0...Self.commands {
                value.async(performIn: queue).highestPriority.set {
                    $0 += 1
                    if index == 0 { times.add(nanoseconds()) }
                    guard index == Self.commands else { return }
                    times.add(nanoseconds())
                    value.suspend()
                    end.open()
                }
            }
            value.resume()
            end.waitUntilOpen()
            return times.entries[1] - times.entries[0]
        }
    }

    /// Each command ends a run, so that the line is asked for the next one.
    @Test("To run one that tells its completion")
    func runWithCompletion() throws {
        try expectSame { value, queue, _ in
            let end = Door()
            let begin = Log<UInt64>()
            for index in 0...Self.commands {
                value.async(performIn: queue).highestPriority.set {
                    $0 += 1
                    if index == 0 { begin.add(nanoseconds()) }
                    if index == Self.commands {
                        begin.add(nanoseconds())
                        value.suspend()
                    }
                } completion: { _ in
                    if index == Self.commands { end.open() }
                }
            }
            value.resume()
            end.waitUntilOpen()
            return begin.entries[1] - begin.entries[0]
        }
    }

    @Test("To have one time out in line")
    func timeout() throws {
        try expectSame { value, _, _ in
            nanoseconds {
                for _ in 0..<Self.commands {
                    value.wait(timeout: .nanoseconds(1)).highestPriority.set { $0 += 1 }
                }
            }
        }
    }

    @Test("To cancel one")
    func cancellation() throws {
        try expectSame { value, queue, _ in
            let handles = (0..<Self.commands).map { _ in
                value.async(performIn: queue).lowestPriority.set { $0 += 1 }
            }
            return nanoseconds {
                for handle in handles { handle.cancel() }
            }
        }
    }

    /// Times something with one queue and with 10,000, each of which has a command in line, and compares.
    private func expectSame(
        _ measure: @escaping @Sendable (QueueSafeValue<Int>, DispatchQueue, [DispatchQueue]) -> UInt64
    ) throws {
        let allowance = UInt64(2_000 * Self.commands)
        var (one, many): (UInt64, UInt64) = (0, .max)
        // Once more if that looks bad, with new values: a busy machine makes some of them slow.
        for _ in 0..<3 where many >= 4 * one + allowance {
            (one, many) = try inTime {
                let times = [1, 10_000].map { count in
                    let value = QueueSafeValue(value: 0)
                    value.suspend()
                    let queue = DispatchQueue(label: "measured")
                    let queues = (0..<count).map { _ in DispatchQueue(label: "waiting") }
                    let handles = queues.map { value.async(performIn: $0).lowestPriority.set { $0 += 1 } }
                    let least = (0..<5).map { _ in measure(value, queue, queues) }.min()!
                    for handle in handles { handle.cancel() }
                    return least
                }
                return (times[0], times[1])
            }
        }
        #expect(
            many < 4 * one + allowance,
            "\(Double(one) / Double(Self.commands)) ns with one, \(Double(many) / Double(Self.commands)) ns with 10,000"
        )
    }
}
