//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("Changes that start with the current value")
struct StartingWithCurrentValueTests {
    @Test func `The first element is the value as it is when a loop begins, the next one the first change`() async {
        let value = QueueSafeValue(value: 1)
        let protected = Protected(1)
        let changes = value.changes(startingWithCurrentValue: true, buffering: .unbounded)
        let protectedChanges = protected.changes(startingWithCurrentValue: true, buffering: .unbounded)
        // Before the loop.
        value.wait(timeout: .never).lowestPriority.set { $0 = 2 }
        protected.wrappedValue = 2
        var (iterator, protectedIterator) = (changes.makeAsyncIterator(), protectedChanges.makeAsyncIterator())
        #expect(await iterator.next() == 2)
        #expect(await protectedIterator.next() == 2)
        value.wait(timeout: .never).lowestPriority.set { $0 = 3 }
        protected.wrappedValue = 3
        #expect(await iterator.next() == 3)
        #expect(await protectedIterator.next() == 3)
        // A later iterator begins with the value as it is then.
        var (later, protectedLater) = (changes.makeAsyncIterator(), protectedChanges.makeAsyncIterator())
        #expect(await later.next() == 3)
        #expect(await protectedLater.next() == 3)
        var without = value.changes(startingWithCurrentValue: false).makeAsyncIterator()
        value.wait(timeout: .never).lowestPriority.set { $0 = 4 }
        #expect(await without.next() == 4)
    }

    @Test func `While a command has the turn, a loop begins with the value that this leaves`() async {
        let value = QueueSafeValue(value: 1)
        let done = Log<CommandCompletionClosure>()
        value.async(performIn: DispatchQueue(label: "change")).lowestPriority.set { current, complete in
            current = 2
            done.add(complete)
        }
        while done.entries.isEmpty { await Task.yield() }
        let first = Task { await firstElement(of: value) }
        while value.pendingCommandCount() < 1 { await Task.yield() }
        done.entries[0]()
        #expect(await first.value == 2)
    }

    @Test func `Where no more commands may wait, a loop ends, as a get would fail`() async {
        let value = QueueSafeValue(value: 7, pendingCommandLimit: 1)
        value.suspend()
        value.async(performIn: DispatchQueue(label: "full")).lowestPriority.get { _ in }
        #expect(await firstElement(of: value) == nil)
        value.resume()
    }

    @Test func `The value of a temporary comes, and then the end`() async {
        let values = [QueueSafeValue(value: 6)]
        let ofElement = values[0].changes(startingWithCurrentValue: true)
        for changes in [
            ofElement, QueueSafeValue(value: 6).changes(startingWithCurrentValue: true),
            Protected(6).changes(startingWithCurrentValue: true),
        ] {
            var iterator = changes.makeAsyncIterator()
            #expect(await iterator.next() == 6)
        }
        var elements: [Int] = []
        for await element in QueueSafeValue(value: 6).changes(startingWithCurrentValue: true) {
            elements.append(element)
        }
        for await element in Protected(7).changes(startingWithCurrentValue: true) { elements.append(element) }
        #expect(elements == [6, 7])
    }

    @Test func `It ends with its value, and does not keep it`() async throws {
        let tally = Counted.Tally()
        do {
            let (value, protected) = (QueueSafeValue(value: Counted(tally: tally)), Protected(Counted(tally: tally)))
            var iterators = [value.changes(startingWithCurrentValue: true).makeAsyncIterator()]
            iterators.append(protected.changes(startingWithCurrentValue: true).makeAsyncIterator())
            for index in 0...1 { #expect(await iterators[index].next() != nil) }
        }
        #expect(tally.alive == 0)
    }

    @Test func `A cancelled loop ends, though its turn has not come`() async {
        let value = QueueSafeValue(value: 1)
        value.suspend()
        let loop = Task {
            for await _ in value.changes(startingWithCurrentValue: true) { Issue.record("it begins") }
        }
        while value.pendingCommandCount() < 1 { await Task.yield() }
        loop.cancel()
        await loop.value
        value.resume()
    }

    @Test("From any moment on, none is missing and none comes twice, 200 times")
    func anyMoment() async {
        for _ in 0..<200 {
            let value = QueueSafeValue(value: 0)
            let protected = Protected(0)
            let writer = RunningThread {
                for _ in 0..<50 {
                    value.wait.lowestPriority.set { $0 += 1 }
                    protected.write { $0 += 1 }
                }
            }
            for changes in [
                value.changes(startingWithCurrentValue: true, buffering: .unbounded),
                protected.changes(startingWithCurrentValue: true, buffering: .unbounded),
            ] {
                var last: Int?
                for await number in changes {
                    if let last, number != last + 1 { Issue.record("\(number) after \(last)") }
                    last = number
                    if number == 50 { break }
                }
            }
            writer.join()
        }
    }

    @Test func `Cancelling all pending commands ends a loop that has not begun`() async {
        let value = QueueSafeValue(value: 7)
        value.suspend()
        let first = Task { await firstElement(of: value) }
        while value.pendingCommandCount() < 1 { await Task.yield() }
        #expect(value.cancelAllPendingCommands() == 1)
        #expect(await first.value == nil)
        value.resume()
        #expect(await firstElement(of: value) == 7)
    }

    private func firstElement(of value: QueueSafeValue<Int>) async -> Int? {
        var iterator = value.changes(startingWithCurrentValue: true).makeAsyncIterator()
        return await iterator.next()
    }
}
