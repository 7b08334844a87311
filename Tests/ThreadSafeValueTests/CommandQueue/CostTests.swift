//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("What a command costs", .serialized)
struct CostTests {
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
