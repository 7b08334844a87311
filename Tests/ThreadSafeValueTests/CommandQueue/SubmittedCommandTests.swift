//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

/// A command keeps its closure, its completion and its result in its own memory.
@Suite("What a submitted command keeps")
struct SubmittedCommandTests {
    // MARK: Of any size and alignment

    private struct Nothing: Equatable {}

    private struct Large: Equatable {
        var first: SIMD64<Int>
        var second = SIMD64<Int>(repeating: 2)
        var text = "text"
    }

    @Test("Values of any size and alignment come out of each command as they went in")
    func sizes() throws {
        try inTime {
            try goThroughCommands(Nothing(), Nothing())
            try goThroughCommands(false, true)
            try goThroughCommands(UInt8?.none, 7)
            try goThroughCommands("", String(repeating: "long", count: 9))
            try goThroughCommands([1], [2, 3])
            try goThroughCommands(SIMD16<Double>(repeating: 1), SIMD16<Double>(repeating: 2))
            try goThroughCommands(Large(first: .init(repeating: 1)), Large(first: .init(repeating: 3)))
        }
    }

    private func goThroughCommands<Value: Equatable & Sendable>(_ one: Value, _ other: Value) throws {
        let value = QueueSafeValue(value: one)
        let queue = DispatchQueue(label: "target")
        let commands = value.async(performIn: queue).lowestPriority
        let told = Log<Result<Value, QueueSafeValueError>>()
        commands.set(newValue: other) { told.add($0) }
        commands.set({ $0 = one }, completion: { told.add($0) })
        let handle = commands.update({ Swift.exchange(&$0, with: other) }, completion: { told.add($0) })
        commands.set(
            { value, done in
                value = one; queue.async { done() }
            },
            completion: { told.add($0) }
        )
        commands.get { told.add($0) }
        commands.get({ _, done in queue.async { done() } }, completion: { told.add($0) })
        commands.set(newValue: other)
        try commands.set { if $0 != other { Issue.record("It is not the last one.") } }.wait().get()
        #expect(handle.wait() == .success(one))
        #expect(try told.entries.map { try $0.get() } == [other, one, one, one, one, one])
    }

    // MARK: Until its end, however it ends

    enum End: CaseIterable {
        case runs, throwsError, isCancelled, isNotAccepted, losesDone, losesValue
    }

    @Test(
        "Each end tells the completion once, and lets go of all captures while the handle is kept",
        arguments: End.allCases
    )
    func ends(_ end: End) throws {
        Mistakes.keepQuiet()
        let tally = Counted.Tally()
        let told = Log<QueueSafeValueError?>()
        let handles = try inTime {
            let queue = DispatchQueue(label: "target")
            let handles = submit(to: queue, end, tally) { result in
                if case .failure(let error) = result { told.add(error) } else { told.add(nil) }
            }
            try poll("all are told") { told.entries.count == 3 }
            queue.sync {}
            try poll("all captures are gone") { tally.alive == 0 }
            return handles
        }
        #expect(handles.count == 3)
        #expect(told.entries.count == 3)
        switch end {
        case .runs: #expect(told.entries == [nil, nil, nil])
        case .throwsError: #expect(told.entries.allSatisfy { if case .unexpected = $0 { true } else { false } })
        case .isCancelled: #expect(told.entries == [.cancelled, .cancelled, .cancelled])
        case .isNotAccepted: #expect(told.entries == [.commandQueueFull, .commandQueueFull, .commandQueueFull])
        case .losesDone: #expect(told.entries == [.completionDropped, .completionDropped, .completionDropped])
        case .losesValue:
            #expect(told.entries == [.valueContainerDeinited, .valueContainerDeinited, .valueContainerDeinited])
        }
    }

    @Test("What a closure captured is gone when the completion is called: it may keep what the completion waits for")
    func capturesFirst() throws {
        let (tally, alive) = (Counted.Tally(), Log<Int>())
        try inTime {
            let value = QueueSafeValue(value: 0)
            let queue = DispatchQueue(label: "target")
            let submissions: [(AsyncCommands<Int>, Counted) -> Void] = [
                { commands, object in
                    commands.set({ $0 += object.id }, completion: { _ in alive.add(tally.alive) })
                },
                { commands, object in
                    commands.update({ $0 += object.id }, completion: { _ in alive.add(tally.alive) })
                },
                { commands, object in
                    commands.set({ withExtendedLifetime(object, $1) }, completion: { _ in alive.add(tally.alive) })
                },
            ]
            for submit in submissions {
                // The command begins once nobody else keeps the object.
                queue.suspend()
                submit(value.async(performIn: queue).lowestPriority, Counted(tally: tally))
                queue.resume()
                queue.sync {}
            }
            try poll("all are told") { alive.entries.count == 3 }
        }
        #expect(alive.entries == [0, 0, 0])
    }

    private struct Thrown: Error {}

    /// Submits a command three times; the second one is manual, but for the end that all must lose.
    private func submit(
        to queue: DispatchQueue,
        _ end: End,
        _ tally: Counted.Tally,
        _ tell: @escaping @Sendable (Result<Counted, QueueSafeValueError>) -> Void
    ) -> [CommandHandle<Void>] {
        let value = QueueSafeValue(value: Counted(tally: tally), pendingCommandLimit: end == .isNotAccepted ? 0 : .max)
        if end == .isCancelled || end == .losesValue { value.suspend() }
        let commands = value.async(performIn: queue).lowestPriority
        let handles = (0..<3).map { index in
            let captures = (Counted(tally: tally), Counted(tally: tally))
            let change: @Sendable (inout Counted) throws -> Void = { counted in
                if end == .throwsError { throw Thrown() }
                counted = Counted(captures.0.id + 1, tally: tally)
            }
            let completion: @Sendable (Result<Counted, QueueSafeValueError>) -> Void = { result in
                withExtendedLifetime(captures.1) { tell(result) }
            }
            if index != 1, end != .losesDone { return commands.set(change, completion: completion) }
            return commands.set(
                { counted, done in
                    try change(&counted)
                    if end != .losesDone { queue.async { done() } }
                },
                completion: completion
            )
        }
        if end == .isCancelled { for handle in handles { #expect(handle.cancel()) } }
        return handles
    }
}
