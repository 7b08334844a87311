//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("What a command costs", .serialized)
struct CostTests {
    private static let commands = 200

    @Test("To submit a command costs the same with one target queue and with 10,000")
    func submission() throws {
        try expectSame { value, queue, _ in
            nanoseconds {
                for _ in 0..<Self.commands { value.async(performIn: queue).lowestPriority.set { $0 += 1 } }
            }
        }
    }

    @Test("So it does if each of many queues, which have commands already, gets one")
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
    @Test("To run a command costs the same")
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
    @Test("So it does if it tells its completion")
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

    @Test("To have a command time out in line costs the same")
    func timeout() throws {
        try expectSame { value, _, _ in
            nanoseconds {
                for _ in 0..<Self.commands {
                    value.wait(timeout: .nanoseconds(1)).highestPriority.set { $0 += 1 }
                }
            }
        }
    }

    @Test("To cancel a command costs the same")
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

    /// Times something with one queue and with 10,000, and compares.
    ///
    /// Every queue has a command that waits, of lowest priority, so each has a place in line. The same commands of one
    /// more queue, or of the thread, are timed with one such queue and with 10,000. The least of several times each,
    /// and some allowance for memory that is not in the processor's cache: what is to be found out is whether a command
    /// looks at each queue.
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

    #if os(Linux) && canImport(Glibc)
    private static let refusals = 200_000

    /// Nobody is to be told, so nothing is kept, whatever the queue does.
    @Test("A refusal without a completion costs no memory, also if its queue stands still", .enabled(if: !isSanitized))
    func silent() async {
        await #expect(processExitsWith: .success) {
            let (value, queue) = Self.fullValue()
            queue.suspend()
            let commands = value.async(performIn: queue).lowestPriority
            let captured = Counted(tally: Counted.Tally())
            let growth = try Self.growth(Self.refusals) {
                commands.set(newValue: 1)
                commands.set { $0 += captured.id }
                commands.set {
                    $0 += captured.id; $1()
                }
            }
            queue.resume()
            #expect(growth < 10 * Self.refusals, "\(growth / Self.refusals) bytes")
        }
    }

    /// Each refusal is told on the queue, so a queue that stands still has them all. When it goes on they are gone.
    @Test("One with a completion costs no memory that is left when the queue has told it", .enabled(if: !isSanitized))
    func told() async {
        await #expect(processExitsWith: .success) {
            let (value, queue) = Self.fullValue()
            let commands = value.async(performIn: queue).lowestPriority
            let tally = Counted.Tally()
            let told = Log<Int>()
            let growth = try Self.growth(Self.refusals / 100) {
                queue.suspend()
                for index in 0..<100 {
                    let captured = Counted(tally: tally)
                    commands.set {
                        $0 += captured.id
                    } completion: { _ in
                        if index == 99 { told.add(captured.id) }
                    }
                    commands.get { _ in withExtendedLifetime(captured) {} }
                    commands.get { _, done in withExtendedLifetime(captured) { done() } }
                }
                queue.resume()
                queue.sync {}
            }
            #expect(told.count == Self.refusals / 100 + 50)
            #expect(tally.alive == 0)
            #expect(growth < 10 * Self.refusals, "\(growth / Self.refusals) bytes")
        }
    }

    /// Its timer has an hour to go.
    @Test("One with a time-out costs none either, for a task", .enabled(if: !isSanitized))
    func timed() async {
        await #expect(processExitsWith: .success) {
            let (value, _) = Self.fullValue()
            let commands = value.async(timeout: .seconds(3_600)).lowestPriority
            for _ in 0..<1_000 { #expect(await commands.get() == .failure(.commandQueueFull)) }
            let before = try residentBytes()
            let count = Self.refusals / 4
            for _ in 0..<count { _ = await commands.get() }
            let growth = try residentBytes() - before
            #expect(growth < 20 * count, "\(growth / count) bytes")
        }
    }

    /// By how much the process grows when something is done so often, after it was done some times.
    private static func growth(_ count: Int, of body: () -> Void) throws -> Int {
        for _ in 0..<50 { body() }
        let before = try residentBytes()
        for _ in 0..<count { body() }
        return try residentBytes() - before
    }

    /// A value that accepts no further command.
    private static func fullValue() -> (QueueSafeValue<Int>, DispatchQueue) {
        let value = QueueSafeValue(value: 0, pendingCommandLimit: 10)
        let queue = DispatchQueue(label: "target")
        value.suspend()
        for _ in 0..<10 { value.async(performIn: queue).lowestPriority.set { $0 += 1 } }
        return (value, queue)
    }
    #endif
}
