//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("Changes end with their value, and do not keep it")
struct ChangesEndTests {
    @Test("A loop ends when the value is gone and what it accepted is done")
    func ends() async {
        var value: QueueSafeValue<Int>? = QueueSafeValue(value: 0)
        let queue = DispatchQueue(label: "changes")
        let changes = value!.changes(buffering: .unbounded)
        var kept: AsyncCommands<Int>? = value!.async(performIn: queue).lowestPriority
        let loop = Task {
            var seen = [Int]()
            for await number in changes { seen.append(number) }
            return seen
        }
        queue.suspend()
        value!.async(performIn: queue).lowestPriority.set { $0 = 1 }
        value!.async(performIn: queue).lowestPriority.set { number, done in
            number = 2
            DispatchQueue.global().async(execute: done)
        }
        value = nil
        kept!.set { $0 = 3 }
        kept = nil
        queue.resume()
        #expect(await loop.value == [1, 2, 3])
        var afterwards = changes.makeAsyncIterator()
        #expect(await afterwards.next() == nil)
    }

    @Test("A loop ends when the value goes away, whether anybody ever changed it or not", arguments: [false, true])
    func endsIdle(isListenedTo: Bool) async {
        var value: QueueSafeValue<Int>? = QueueSafeValue(value: 0)
        let changes = value!.changes()
        var iterator = isListenedTo ? changes.makeAsyncIterator() : nil
        if !isListenedTo { _ = changes.makeAsyncIterator() }
        value = nil
        if isListenedTo { #expect(await iterator?.next() == nil) }
        var afterwards = changes.makeAsyncIterator()
        #expect(await afterwards.next() == nil)
    }

    @Test("The value going away while listeners come and go leaves nobody waiting")
    func endRaces() async {
        for _ in 0..<200 {
            let holder = Protected<QueueSafeValue<Int>?>(QueueSafeValue(value: 0))
            let changes = holder.wrappedValue!.changes()
            let commands = Protected<WaitCommands<Int>?>(holder.wrappedValue!.wait.lowestPriority)
            let loop = Task { for await _ in changes {} }
            let others = RunningThread {
                let gate = StartGate(count: 3)
                let threads = [
                    RunningThread {
                        gate.pass()
                        for _ in 0..<5 { _ = changes.makeAsyncIterator() }
                    },
                    RunningThread {
                        gate.pass()
                        for _ in 0..<5 { commands.wrappedValue?.set { $0 += 1 } }
                        commands.wrappedValue = nil
                    },
                ]
                gate.pass()
                holder.wrappedValue = nil
                for thread in threads { thread.join() }
            }
            await loop.value
            others.join()
        }
    }

    /// A listener that comes or goes has a reference to the value for a moment, which may be the last one then.
    @Test("The value may go away while its only listener comes or goes")
    func lastReference() throws {
        try inTime {
            for _ in 0..<rounds(500) {
                let holder = Protected<QueueSafeValue<Int>?>(QueueSafeValue(value: 0))
                let changes = holder.wrappedValue!.changes()
                let (hasBegun, isOver) = (Protected(false), Protected(false))
                let thread = RunningThread {
                    while !isOver.wrappedValue {
                        _ = changes.makeAsyncIterator()
                        hasBegun.wrappedValue = true
                    }
                }
                while !hasBegun.wrappedValue {}
                spin(.random(in: 0..<20_000))
                holder.wrappedValue = nil
                isOver.wrappedValue = true
                thread.join()
            }
        }
    }

    @Test("A loop goes on as long as a command waits for a queue that was late")
    func lateQueue() async throws {
        var value: QueueSafeValue<Int>? = QueueSafeValue(value: 0)
        let (suspended, other) = (DispatchQueue(label: "suspended"), DispatchQueue(label: "other"))
        var iterator = value!.changes(buffering: .unbounded).makeAsyncIterator()
        suspended.suspend()
        value!.async(performIn: suspended).highestPriority.set { $0 += 100 }
        // It goes first, once the other was waited for in vain.
        value!.async(performIn: other).lowestPriority.set { $0 += 1 }
        #expect(await iterator.next() == 1)
        value = nil
        try await onThreadOfItsOwn { other.sync {} }
        suspended.resume()
        #expect(await iterator.next() == 101)
        #expect(await iterator.next() == nil)
    }

    /// One thread lets go of the value while another begins to listen, thousands of times. Whoever looks whether the
    /// value is still there may be the last to have it, and lets it go where that takes a lock.
    @Test("A loop that begins while the value goes away ends in good order")
    func begins() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            for round in 0..<3_000 {
                let holder = Protected<QueueSafeValue<Int>?>(QueueSafeValue(value: 0))
                let changes = holder.wrappedValue!.changes()
                _ = changes.makeAsyncIterator()
                let gate = StartGate(count: 2)
                let thread = RunningThread {
                    gate.pass()
                    spin(UInt64(round % 50) * 20)
                    holder.wrappedValue = nil
                }
                gate.pass()
                for _ in 0..<4 { _ = changes.makeAsyncIterator() }
                thread.join()
            }
        }
    }

    @Test("A loop over changes does not keep the value, and ends with it")
    func changes() async throws {
        let tally = Counted.Tally()
        let loop: Task<[Int], Never>
        do {
            var value: QueueSafeValue<Counted>? = QueueSafeValue(value: Counted(0, tally: tally))
            let changes = value!.changes(buffering: .unbounded)
            loop = Task {
                var seen: [Int] = []
                for await counted in changes { seen.append(counted.id) }
                return seen
            }
            value?.wait.lowestPriority.set { $0 = Counted(1, tally: tally) }
            let commands = value!.wait.lowestPriority
            value = nil
            // The commands that are kept keep the value: it still changes.
            commands.set { $0 = Counted(2, tally: tally) }
        }
        let seen = await firstOf(loop)
        #expect(seen == [1, 2])
        try await onThreadOfItsOwn { try poll("the value is gone") { tally.alive == 0 } }
    }

    @Test("A loop over the changes of a temporary ends at once")
    func changesOfATemporary() async {
        let loop = Task {
            var count = 0
            for await _ in (0..<3).map({ QueueSafeValue(value: $0) }).first!.changes() { count += 1 }
            return count
        }
        #expect(await firstOf(loop) == 0)
    }

    @Test("A loop ends when a suspended value that nobody holds goes away with its commands")
    func changesOfASuspendedValue() async {
        let loop = Task {
            let changes = Self.suspendedChanges()
            var count = 0
            for await _ in changes { count += 1 }
            return count
        }
        #expect(await firstOf(loop) == 0)
    }

    @Test("A sequence doesn't keep the value alive, and nothing leaks")
    func leaks() async {
        let tally = Counted.Tally()
        do {
            var value: QueueSafeValue<Counted>? = QueueSafeValue(value: Counted(tally: tally))
            let changes = value!.changes(buffering: .unbounded)
            for _ in 0..<10 { value!.wait.lowestPriority.set(newValue: Counted(tally: tally)) }
            #expect(tally.alive == 10)
            value = nil
            #expect(tally.alive == 10)
            withExtendedLifetime(changes) {}
        }
        #expect(tally.alive == 0)
    }

    private static func suspendedChanges() -> ValueChanges<Int> {
        let value = QueueSafeValue(value: 0)
        value.suspend()
        value.async(performIn: .utility).lowestPriority.set { $0 += 1 }
        return value.changes()
    }
}

/// What a task answers, or `nil` if that takes too long.
private func firstOf<Answer: Sendable>(_ task: Task<Answer, Never>) async -> Answer? {
    let answer = Log<Answer>()
    let end = DispatchSemaphore(value: 0)
    OwnThreads.run {
        answer.add(await task.value)
        end.signal()
    }
    _ = try? await onThreadOfItsOwn { _ = end.wait(timeout: .now() + 300) }
    task.cancel()
    return answer.entries.first
}
