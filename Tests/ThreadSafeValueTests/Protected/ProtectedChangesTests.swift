//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("Changes of a protected value")
struct ProtectedChangesTests {
    @Test("A sequence has every change since it was made, in order, if it keeps all")
    func all() async {
        let number = Protected(0)
        var iterator = number.changes(buffering: .unbounded).makeAsyncIterator()
        for count in 1...100 { number.wrappedValue = count }
        for count in 1...100 { #expect(await iterator.next() == count) }
    }

    @Test("By default it has the latest one, or the latest ones, as asked for")
    func latest() async {
        let number = Protected(0)
        var latest = number.changes().makeAsyncIterator()
        var newest = number.changes(buffering: .newest(3)).makeAsyncIterator()
        var atLeastOne = number.changes(buffering: .newest(-3)).makeAsyncIterator()
        for count in 1...10 { number.wrappedValue = count }
        #expect(await latest.next() == 10)
        #expect(await atLeastOne.next() == 10)
        for count in 8...10 { #expect(await newest.next() == count) }
    }

    @Test("Every kind of change is one element", arguments: Change.allCases)
    func everyChange(change: Change) async {
        let value = Protected(NumberList())
        var iterator = value.changes(buffering: .unbounded).makeAsyncIterator()
        change.make(to: value)
        value.wrappedValue = NumberList(numbers: [7])
        #expect(await iterator.next()?.numbers == [1])
        #expect(await iterator.next()?.numbers == [7])
    }

    @Test("A read is none, nor is a step that was not taken")
    func noChange() async {
        let state = Protected(Step(number: 0))
        var iterator = state.changes(buffering: .unbounded).makeAsyncIterator()
        _ = state.wrappedValue
        _ = state.number
        _ = state.read { $0.number }
        _ = state.tryRead { $0.number }
        _ = state == state
        #expect(!state.attemptToTransition(to: Step(number: 5)))
        #expect(state.attemptToTransition(to: Step(number: 1)))
        #expect(await iterator.next()?.number == 1)
    }

    @Test("Both values of a step on several have their change")
    func several() async {
        let (number, text) = (Protected(0), Protected(""))
        var (numbers, texts) = (number.changes().makeAsyncIterator(), text.changes().makeAsyncIterator())
        withLocked(number, text) { number, text in
            number = 1
            text = "a"
        }
        #expect(await numbers.next() == 1)
        #expect(await texts.next() == "a")
    }

    @Test("So has the only one that is listened to, whichever it is, also of a list", arguments: 0..<4)
    func onlyOne(place: Int) async {
        let values = (0..<4).map { _ in Protected(0) }
        var changes = values[place].changes(buffering: .unbounded).makeAsyncIterator()
        withLocked(values[place], values[(place + 1) % 4]) { ($0, $1) = (0, 0) }
        #expect(await changes.next() == 0)
        withLocked(values[(place + 1) % 4], values[place]) { ($0, $1) = (1, 1) }
        #expect(await changes.next() == 1)
        withLocked(values) { $0 = [2, 2, 2, 2] }
        #expect(await changes.next() == 2)
        let three = [values[place]] + values.indices.filter { $0 != place }.prefix(2).map { values[$0] }
        withLocked(three[place % 3], three[(place + 1) % 3], three[(place + 2) % 3]) { first, second, third in
            (first, second, third) = (3, 3, 3)
        }
        #expect(await changes.next() == 3)
        #expect(values[place].tryRead { $0 } == 3)
    }

    @Test("The first iterator has what came since the sequence was made, a second one what comes since it was made")
    func iterators() async {
        let number = Protected(0)
        let changes = number.changes(buffering: .unbounded)
        number.wrappedValue = 1
        var first = changes.makeAsyncIterator()
        var second = changes.makeAsyncIterator()
        number.wrappedValue = 2
        #expect(await first.next() == 1)
        #expect(await first.next() == 2)
        #expect(await second.next() == 2)
    }

    @Test("Several loops hear every change that four threads make, all in the one order in which they were made")
    func order() async {
        // No array: it changes in place once no loop has it, and the thread sanitizer does not see that a loop lets it go.
        let count = Protected(0)
        let listeners = (0..<3).map { _ in
            let changes = count.changes(buffering: .unbounded)
            return Task {
                var counts = [Int]()
                for await count in changes {
                    counts.append(count)
                    if count == 1_000 { break }
                }
                return counts
            }
        }
        let writers = RunningThread {
            onThreads(4) { _ in
                for _ in 0..<250 { count.write { $0 += 1 } }
            }
        }
        for listener in listeners { #expect(await listener.value == Array(1...1_000)) }
        writers.join()
    }

    @Test("A loop that keeps the latest only goes forward, and ends with the last change", arguments: 0..<20)
    func latestIsLast(round: Int) async {
        let number = Protected(0)
        let listeners = (0..<2).map { _ in
            let changes = number.changes()
            return Task {
                var last = 0
                for await number in changes {
                    #expect(number > last)
                    last = number
                    if number == 2_000 { break }
                }
                return last
            }
        }
        let writers = RunningThread {
            onThreads(2) { _ in
                for _ in 0..<1_000 { number.wrappedValue += 1 }
            }
        }
        for listener in listeners { #expect(await listener.value == 2_000) }
        writers.join()
    }

    @Test("A loop ends when the value goes away, after what it has kept")
    func ends() async {
        var number: Protected<Int>? = Protected(0)
        let waiting = number!.changes()
        var late = number!.changes(buffering: .unbounded).makeAsyncIterator()
        let loop = Task {
            var seen = [Int]()
            for await number in waiting { seen.append(number) }
            return seen
        }
        number!.wrappedValue = 1
        number!.wrappedValue = 2
        number = nil
        #expect(await loop.value.last == 2)
        #expect(await late.next() == 1)
        #expect(await late.next() == 2)
        #expect(await late.next() == nil)
        #expect(await late.next() == nil)
        var afterwards = waiting.makeAsyncIterator()
        #expect(await afterwards.next() == nil)
    }

    @Test("A loop ends when its task is cancelled, waiting or not; the others go on")
    func cancelled() async {
        let number = Protected(0)
        var other = number.changes().makeAsyncIterator()
        let changes = number.changes()
        let loop = Task { for await _ in changes {} }
        await Task.yield()
        loop.cancel()
        await loop.value

        let again = number.changes()
        let isCancelled = Protected(false)
        let early = Task {
            while !Task.isCancelled { await Task.yield() }
            isCancelled.wrappedValue = true
            for await _ in again { Issue.record("It was cancelled.") }
        }
        number.wrappedValue = 1
        early.cancel()
        await early.value
        #expect(isCancelled.wrappedValue)
        #expect(await other.next() == 1)
    }

    @Test("Cancelling that races changes never leaves a loop waiting")
    func cancelRaces() async {
        for _ in 0..<200 {
            let number = Protected(0)
            let changes = number.changes()
            let loop = Task { for await _ in changes {} }
            let writer = RunningThread { for _ in 0..<20 { number.wrappedValue += 1 } }
            loop.cancel()
            await loop.value
            writer.join()
        }
    }

    @Test("A change that comes while a loop begins to wait for it is not missed")
    func changeBeforeWait() async throws {
        let number = Protected(0)
        let changes = number.changes()
        let heard = Protected(0)
        OwnThreads.run { for await number in changes { heard.wrappedValue = number } }
        try await onThreadOfItsOwn {
            for round in 1...rounds(20_000) {
                number.wrappedValue = round
                try poll(looks: 1_000, "change \(round) is heard") { heard.wrappedValue == round }
                // Each time a little longer, so that some of the next ones come between the loop's look and its wait.
                for _ in 0..<round % 20 { _ = heard.wrappedValue }
            }
        }
    }

    @Test("A loop may change the value that it listens to")
    func changesFromLoop() async {
        let number = Protected(0)
        let changes = number.changes()
        number.wrappedValue = 1
        for await latest in changes {
            if latest == 50 { break }
            number.wrappedValue += 1
        }
        #expect(number.wrappedValue == 50)
    }

    @MainActor
    @Test("A loop on an actor works with what the actor keeps")
    func onActor() async {
        let number = Protected(0)
        let changes = number.changes()
        var seen = [Int]()
        number.wrappedValue = 1
        for await latest in changes {
            MainActor.assertIsolated()
            seen.append(latest)
            if latest == 3 { break }
            number.wrappedValue += 1
        }
        #expect(seen == [1, 2, 3])
    }

    @Test("A value that a busy loop skips goes away outside the lock")
    func replacedOutside() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let (value, count) = (Protected(Last {}), Protected(0))
            let changes = value.changes()
            for _ in 0..<10 {
                let next = Last {
                    // Accessed under the lock, it would crash.
                    value.read { _ in }
                    count.wrappedValue += 1
                }
                // In place, so that only the busy loop still has the old one when the access ends.
                value.write { [next] value in value = next }
            }
            value.wrappedValue = Last {}
            var iterator = changes.makeAsyncIterator()
            _ = await iterator.next()
            precondition(count.wrappedValue == 10)
        }
    }

    @Test("A value is listened to as long as a sequence or an iterator lives, and costs nothing after that")
    func unlisted() async {
        let number = Protected(0)
        #expect(!number.hasWaiters)
        do {
            let changes = number.changes()
            #expect(number.hasWaiters)
            var iterator = changes.makeAsyncIterator()
            number.wrappedValue = 1
            _ = await iterator.next()
            let other = number.changes()
            #expect(number.hasWaiters)
            withExtendedLifetime((changes, other, iterator)) {}
        }
        #expect(!number.hasWaiters)
        RunningThread { _ = number.wait(until: { $0 == 9 }, timeout: .milliseconds(1)) }.join()
        #expect(!number.hasWaiters)
        number.read { _ in
            RunningThread { #expect(number.write(timeout: .milliseconds(1)) { $0 = 5 } == nil) }.join()
        }
        #expect(!number.hasWaiters)
    }

    @Test("A sequence doesn't keep its value alive, and all that it kept goes with it")
    func leaks() async {
        let tally = Counted.Tally()
        do {
            var value: Protected<Counted>? = Protected(Counted(tally: tally))
            let changes = value!.changes(buffering: .unbounded)
            for _ in 0..<10 { value!.wrappedValue = Counted(tally: tally) }
            #expect(tally.alive == 10)
            value = nil
            #expect(tally.alive == 10)
            withExtendedLifetime(changes) {}
        }
        #expect(tally.alive == 0)
    }
}

private struct Step: Transitionable, Equatable {
    var number: Int

    func canTransition(to next: Step) -> Bool { next.number == number + 1 }
}
