//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

/// One step of one thread's program.
private struct Step: Sendable {
    enum Form: CaseIterable {
        case wait, waitManual, async, asyncManual, asyncNewValue
    }

    let thread: Int
    let index: Int
    let form: Form
    let isHighest: Bool
    let queue: Int
    let amount: Int

    /// Grows with the thread, and within it with the index.
    var number: Int { thread * 1_000 + index }

    /// Steps of one stream are submitted one after the other, and to one place with one priority: they keep their
    /// order.
    var stream: [Int] {
        switch form {
        case .wait, .waitManual: [thread]
        case .async, .asyncManual, .asyncNewValue: [thread, queue, isHighest ? 1 : 0]
        }
    }
}

@Suite("Random programs")
struct RandomProgramTests {
    @Test("Sums are exact, every completion comes once, and the steps of a thread for one place keep their order")
    func programs() throws {
        var random = SeededRandom()
        for _ in 0..<8 {
            let threads = Int.random(in: 2...5, using: &random)
            let programs = (0..<threads).map { thread in
                (0..<150).map { index in
                    Step(
                        thread: thread,
                        index: index,
                        form: Step.Form.allCases.randomElement(using: &random)!,
                        isHighest: .random(using: &random),
                        queue: .random(in: 0..<3, using: &random),
                        amount: .random(in: 1...1_000, using: &random)
                    )
                }
            }
            let (state, completions) = try inTime { try run(programs) }
            let steps = programs.flatMap { $0 }
            let changes = steps.filter { $0.form != .asyncNewValue }
            #expect(state.sum == changes.reduce(0) { $0 + $1.amount })
            #expect(state.done.count == changes.count)
            #expect(completions.sorted() == steps.map(\.number))
            let streams = Dictionary(grouping: state.done, by: \.stream)
            #expect(streams.values.allSatisfy { stream in stream.map(\.index) == stream.map(\.index).sorted() })
        }
    }

    private struct State: Sendable {
        var sum = 0
        var done: [Step] = []
    }

    private func run(_ programs: [[Step]]) throws -> (State, [Int]) {
        let value = QueueSafeValue(value: State())
        let other = QueueSafeValue(value: 0)
        let queues = [
            DispatchQueue(label: "serial"), DispatchQueue(label: "other"),
            DispatchQueue(label: "concurrent", attributes: .concurrent),
        ]
        let completions = Log<Int>()
        let group = DispatchGroup()
        onThreads(programs.count) { thread in
            for step in programs[thread] {
                let number = step.number
                let wait = step.isHighest ? value.wait.highestPriority : value.wait.lowestPriority
                let schedule = value.async(performIn: queues[step.queue])
                let async = step.isHighest ? schedule.highestPriority : schedule.lowestPriority
                let change: @Sendable (inout State) -> Void = { state in
                    state.sum += step.amount
                    state.done.append(step)
                }
                let tell: @Sendable (Result<State, QueueSafeValueError>) -> Void = { result in
                    if case .success(let state) = result, state.sum >= step.amount { completions.add(number) }
                    group.leave()
                }
                group.enter()
                switch step.form {
                case .wait: tell(wait.set { change(&$0) })
                case .waitManual:
                    tell(
                        wait.set { state, done in
                            change(&state)
                            queues[step.queue].async { done() }
                        }
                    )
                case .async: async.set(accessClosure: change, completion: tell)
                case .asyncManual:
                    async.set(
                        manualCompletion: { state, done in
                            change(&state)
                            if step.amount % 2 == 0 { done() } else { DispatchQueue.global().async { done() } }
                        },
                        completion: tell
                    )
                case .asyncNewValue:
                    let other = other.async(performIn: queues[step.queue])
                    (step.isHighest ? other.highestPriority : other.lowestPriority).set(newValue: number) { result in
                        if result == .success(number) { completions.add(number) }
                        group.leave()
                    }
                }
            }
        }
        group.wait()
        return (try value.wait.lowestPriority.get().get(), completions.entries)
    }
}
