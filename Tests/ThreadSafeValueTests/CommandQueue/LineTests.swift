//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing

@testable import ThreadSafeValue

/// The rules without threads: calls of a line, and what it says is to be done after each.
@Suite("The line, without threads")
struct LineTests {
    private let table = LineTable()

    /// A line of the table: a call, and what follows.
    private func expect(
        _ follows: String,
        location: SourceLocation = #_sourceLocation,
        after call: (inout Line) -> Void
    ) {
        let seen = table.follows(from: call)
        #expect(seen == follows, sourceLocation: location)
    }

    private func thread(
        _ number: UInt64,
        _ priority: CommandPriority = .lowest,
        cameAt time: UInt64 = .max >> 1
    ) -> ThreadWaiter {
        let waiter = ThreadWaiter(.thread, identity: number << 4)
        waiter.state = Waiter.State(priority: priority, sentTime: time)
        return waiter
    }

    @Test("Rule 1: who takes a free turn, by what stands in line")
    func take() {
        // Whether a newcomer takes it: a lower one, an equal one, a higher one, a higher try.
        func takers() -> [Bool] {
            [.low, .medium, .high].map { table.line.turn.mayBeTaken(by: $0) }
                + [table.line.turn.mayBeTaken(by: .high, isTry: true)]
        }
        #expect(takers() == [true, true, true, true])
        let first = thread(1, .medium)
        expect("") { $0.enter(first, isWatching: false) }
        #expect(takers() == [false, true, true, true])
        expect("") { _ = $0.accept(table.command(.medium), for: table.queue("a"), of: table.turns) }
        #expect(takers() == [false, false, true, true])
        expect("") { $0.oweAfterComingInVain(first) }
        #expect(takers() == [false, false, false, true])
    }

    @Test("Rules 2 and 3: a release wakes the front once, and only the front")
    func send() {
        let (first, second) = (thread(1), thread(2, .high))
        table.hold()
        expect("") { $0.enter(first, isWatching: false) }
        expect("") { _ = $0.prepareToPark(first) }
        expect("") { $0.enter(second, isWatching: false) }
        expect("") { _ = $0.prepareToPark(second) }
        expect("") { _ = $0.accept(table.command(.high), for: table.queue("a"), of: table.turns) }
        expect("wake 2") { $0.release(afterChange: true) }
        table.hold()
        expect("") { $0.release(afterChange: true) }
        var hasTurn = false
        expect("") { hasTurn = $0.arrive(second, as: second.identity) }
        #expect(hasTurn)
        expect("block a, timer") { $0.release(afterChange: true) }
        expect("") { hasTurn = $0.arrive(first, as: first.identity) }
        #expect(!hasTurn)
    }

    @Test("Rule 4: a front that came in vain is owed the turn, until it has had that")
    func owed() {
        let first = thread(1)
        table.hold()
        expect("") { $0.enter(first, isWatching: false) }
        expect("") { _ = $0.prepareToPark(first) }
        var end = WaitEnd.hasTurn
        expect("") { end = $0.finishWait(first, as: first.identity) }
        #expect(end.failure == nil && first.state.isOwed)
        #expect(table.line.turn.isOwed(before: .low))
        expect("wake 1") { $0.release(afterChange: true) }
        expect("") { end = $0.finishWait(first, as: first.identity) }
        guard case .hasTurn = end else {
            Issue.record("The front has not the turn.")
            return
        }
        #expect(table.line.turn.isLineEmpty)
    }

    /// Each thread came long ago. A round that is slower than the clock does not show what happens before that.
    @Test("Rule 4: a front thread is owed the turn, but only one in a quarter of a millisecond")
    func owedByClock() {
        var isShown = false
        for round in 0..<10_000 where !isShown {
            let (first, second) = (thread(UInt64(2 * round + 1), cameAt: 0), thread(UInt64(2 * round + 2), cameAt: 0))
            table.hold()
            spin(HandoffPolicy.fair)
            let begin = nanoseconds()
            expect("") { $0.enter(first, isWatching: false) }
            #expect(first.state.isOwed && table.line.turn.isOwed(before: .low))
            expect("") { $0.enter(second, isWatching: false) }
            expect("wake \(2 * round + 1)") { line in
                _ = line.prepareToPark(first)
                line.release(afterChange: true)
            }
            expect("") { _ = $0.arrive(first, as: first.identity) }
            isShown = nanoseconds() - begin < HandoffPolicy.fair
            if isShown { #expect(!second.state.isOwed && !table.line.turn.isOwed(before: .low)) }
            // Whatever changes the line looks at the clock.
            spin(HandoffPolicy.fair)
            expect("") { $0.look() }
            #expect(second.state.isOwed && table.line.turn.isOwed(before: .low))
            expect("") { line in
                line.leave(second)
                line.release(afterChange: true)
            }
        }
        #expect(isShown)
    }

    @Test("Rule 5: what is late has no place, all lanes are sent for then, and each returns to its place")
    func late() throws {
        let lanes = try ["a", "b", "c"].map { name in
            var lane: Lane?
            expect(name == "a" ? "block a" : name == "b" ? "timer" : "") {
                lane = $0.accept(table.command(.lowest), for: table.queue(name), of: table.turns)
            }
            return try #require(lane)
        }
        lanes[0].state.dueTime = 1
        expect("late a, block b, block c, timer") { $0.look() }
        #expect(table.line.pendingCount() == 3)
        #expect(table.line.front === lanes[1])
        expect("") { _ = $0.arrive(lanes[0], as: 16) }
        #expect(table.line.front === lanes[0])
        // While the value is suspended, nothing is late (rule 7).
        expect("") { $0.suspensions += 1 }
        lanes[1].state.dueTime = 1
        table.line.release(afterChange: false)
        expect("") { $0.look() }
        #expect(lanes[1].state.standing == .inLine)
        expect("timer") { _ = $0.resume() }
        #expect(lanes[1].state.dueTime > 1)
    }

    @Test("Rule 6: a block takes its lane's most urgent commands, and goes on while they are the front")
    func batch() throws {
        var lane: Lane?
        expect("block a") { lane = $0.accept(table.command(.low), for: table.queue("a"), of: table.turns) }
        for _ in 0..<2 {
            expect("") { _ = $0.accept(table.command(.low), for: table.queue("a"), of: table.turns) }
        }
        let run = try #require(lane?.running)
        run.thread = 16
        // Commands stand behind its first one, which may tell callers for long.
        expect("timer") { _ = $0.arrive(run, isLastLook: true) }
        #expect(run.hasTurn)
        #expect(run.batch.count == 3)
        // A more urgent one goes first, and the rest goes back.
        expect("") { _ = $0.accept(table.command(.high), for: table.queue("a"), of: table.turns) }
        expect("") { $0.goOnOrRelease(run) }
        #expect(run.hasTurn && run.batch.first?.priority == .high)
        #expect(run.batch.first?.move(.waiting, to: .running) == true)
        // An equal of another queue that came later waits for them; a more urgent one does not.
        expect("") { _ = $0.accept(table.command(.low), for: table.queue("b"), of: table.turns) }
        expect("") { $0.goOnOrRelease(run) }
        #expect(run.hasTurn && run.batch.first?.priority == .low)
        expect("") { _ = $0.accept(table.command(.highest), for: table.queue("b"), of: table.turns) }
        expect("block b") { $0.goOnOrRelease(run) }
        #expect(!run.hasTurn)
    }
}

/// A line, and what a table calls it with.
@safe
private final class LineTable {
    var line: Line
    let turns: TurnQueue
    private let words: UnsafeMutablePointer<AtomicWord.Storage>
    private var queues: [String: DispatchQueue] = [:]
    private let storage = CommandQueueStorage.make(0, limit: .max)

    init() {
        unsafe words = .allocate(capacity: 2)
        unsafe words.initialize(repeating: AtomicWord.zero, count: 2)
        turns = storage.turns
        let (word, startedCount) = unsafe (AtomicWord(words), AtomicWord(words + 1))
        line = Line(word: word, startedCount: startedCount, reorderings: Reorderings(), limit: .max)
    }

    deinit {
        // A lane and its block keep each other, and a list its commands.
        for lane in line.end() {
            lane.running?.putBatchBack()
            lane.running?.forget()
            lane.running = nil
            _ = lane.endAll(nil, as: .cancelled)
        }
        unsafe words.deallocate()
    }

    func queue(_ name: String) -> DispatchQueue {
        if let known = queues[name] { return known }
        let queue = DispatchQueue(label: name)
        queues[name] = queue
        return queue
    }

    func command(_ priority: CommandPriority) -> PendingCommand {
        PendingCommand.make(priority, ChangeClosure<Int> { _ in }) { (_, _: CommandQueue<Int>) in
            CommandEnding(isChange: true)
        }
    }

    /// A thread has the turn that is in no test's line.
    func hold() {
        let seen = line.turn
        #expect(line.word.exchangeAcquiring(seen.bits, for: seen.held(by: 1 << 10).bits))
    }

    /// Changes the line, and names what is to be done after that.
    func follows(from change: (inout Line) -> Void) -> String {
        change(&line)
        let names = line.publish().map { action in
            switch action {
            case .wake(let waiter): "wake \(waiter.identity >> 4)"
            case .dispatch(let run): "block \(run.lane.target.label)"
            case .tell: "tell"
            case .mark(let target): "late \(target.label)"
            case .liftHolder(let priority): "lift to \(priority)"
            case .look: "timer"
            }
        }
        return names.joined(separator: ", ")
    }
}
