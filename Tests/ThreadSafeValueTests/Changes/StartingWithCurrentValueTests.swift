//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("Changes that start with the current value")
struct StartingWithCurrentValueTests {
    @Test func `The first element is the value as it is, the next one the first change`() async {
        let value = QueueSafeValue(value: 1)
        let protected = Protected(1)
        let changes = value.changes(startingWithCurrentValue: true, buffering: .unbounded)
        let protectedChanges = protected.changes(startingWithCurrentValue: true, buffering: .unbounded)
        value.wait(timeout: .never).lowestPriority.set { $0 = 2 }
        protected.wrappedValue = 2
        var (iterator, protectedIterator) = (changes.makeAsyncIterator(), protectedChanges.makeAsyncIterator())
        for expected in 1...2 {
            #expect(await iterator.next() == expected)
            #expect(await protectedIterator.next() == expected)
        }
        // A later iterator begins with the value as it is then.
        var (later, protectedLater) = (changes.makeAsyncIterator(), protectedChanges.makeAsyncIterator())
        #expect(await later.next() == 2)
        #expect(await protectedLater.next() == 2)
        var without = value.changes(startingWithCurrentValue: false).makeAsyncIterator()
        value.wait(timeout: .never).lowestPriority.set { $0 = 3 }
        #expect(await without.next() == 3)
    }

    @Test func `While a command has the turn, it begins with the value that this leaves`() async throws {
        let value = QueueSafeValue(value: 1)
        let blocker = Blocker(value)
        value.async(performIn: DispatchQueue(label: "change")).highestPriority.set { $0 += 1 }
        var iterator = value.changes(startingWithCurrentValue: true, buffering: .unbounded).makeAsyncIterator()
        #expect(value.pendingCommandCount() == 1)
        blocker.end()
        #expect(await iterator.next() == 1)
        #expect(await iterator.next() == 2)
    }

    @Test func `Inside a command of the value it begins after that`() async throws {
        let value = QueueSafeValue(value: 1)
        let made = Log<ValueChanges<Int>>()
        value.wait(timeout: .never).lowestPriority.set { number in
            made.add(value.changes(startingWithCurrentValue: true, buffering: .unbounded))
            number = 2
        }
        var iterator = made.entries[0].makeAsyncIterator()
        #expect(await iterator.next() == 2)
    }

    @Test func `It ends with its value, and does not keep it`() async throws {
        let tally = Counted.Tally()
        func make() -> (ValueChanges<Counted>, ValueChanges<Counted>) {
            let (value, protected) = (QueueSafeValue(value: Counted(tally: tally)), Protected(Counted(tally: tally)))
            return (
                value.changes(startingWithCurrentValue: true), protected.changes(startingWithCurrentValue: true)
            )
        }
        do {
            let (changes, protectedChanges) = make()
            for changes in [changes, protectedChanges] {
                var iterator = changes.makeAsyncIterator()
                #expect(await iterator.next() != nil)
                #expect(await iterator.next() == nil)
                // The value is not there any more.
                var later = changes.makeAsyncIterator()
                #expect(await later.next() == nil)
            }
        }
        #expect(tally.alive == 0)
    }

    @Test func `It begins with a suspended value, and ends with it`() async {
        func make() -> ValueChanges<Int> {
            let value = QueueSafeValue(value: 1)
            value.suspend()
            return value.changes(startingWithCurrentValue: true)
        }
        var iterator = make().makeAsyncIterator()
        #expect(await iterator.next() == 1)
        #expect(await iterator.next() == nil)
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

    @Test func `Cancelling all pending commands ends no sequence`() async {
        let value = QueueSafeValue(value: 7)
        value.suspend()
        var iterator = value.changes(startingWithCurrentValue: true, buffering: .unbounded).makeAsyncIterator()
        value.cancelAllPendingCommands()
        value.resume()
        #expect(await iterator.next() == 7)
        await value.async.lowestPriority.set { $0 += 1 }
        #expect(await iterator.next() == 8)
    }
}
