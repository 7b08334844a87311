//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("Lifetime: a suspended value that nobody holds any more")
struct SuspendedAndLetGoTests {
    @Test("Its pending commands are told on their queues that it is gone, each once, and none of them runs")
    func told() throws {
        let (answers, ran) = try inTime {
            let (answers, ran) = (Log<Answer>(), Log<String>())
            let group = DispatchGroup()
            do {
                let value = QueueSafeValue(value: 0)
                value.suspend()
                for index in 0..<3 {
                    let queue = DispatchQueue(label: "\(index)")
                    let tell: @Sendable (Answer) -> Void = { answer in
                        dispatchPrecondition(condition: .onQueue(queue))
                        answers.add(answer)
                        group.leave()
                    }
                    for _ in 0..<6 { group.enter() }
                    let schedule = value.async(performIn: queue)
                    schedule.lowestPriority.get(completion: tell)
                    schedule.highestPriority.get { answer, done in tell(answer) }
                    schedule.lowestPriority.get { _, done in
                        done()
                    } completion: {
                        tell($0)
                    }
                    schedule.mediumPriority.set(newValue: 1, completion: tell)
                    schedule.lowestPriority.set {
                        $0 += 1
                        ran.add("set")
                    } completion: {
                        tell($0)
                    }
                    schedule.highestPriority.set {
                        $0 += 1
                        ran.add("set manually")
                        $1()
                    } completion: {
                        tell($0)
                    }
                    schedule.lowestPriority.set { _ in ran.add("without completion") }
                }
            }
            group.wait()
            return (answers.entries, ran.entries)
        }
        #expect(answers == Array(repeating: .failure(.valueContainerDeinited), count: 18))
        #expect(ran.isEmpty)
    }

    @Test("The handles of its pending commands say that they were refused, and cancel nothing any more")
    func handles() throws {
        let (state, isCancelled) = try inTime {
            let told = Door()
            let handle: CommandHandle<Void>
            do {
                let value = QueueSafeValue(value: 0)
                value.suspend()
                handle = value.async(performIn: .utility).lowestPriority.get { _ in told.open() }
            }
            told.waitUntilOpen()
            return (handle.state, handle.cancel())
        }
        #expect(state == .refused)
        #expect(!isCancelled)
    }

    @Test("It goes away, with what its commands captured")
    func goesAway() throws {
        let tally = Counted.Tally()
        try inTime {
            for isNested in [false, true] {
                let value = QueueSafeValue(value: Counted(tally: tally))
                let captured = Counted(tally: tally)
                value.suspend()
                if isNested { value.suspend() }
                for _ in 0..<10 {
                    value.async(performIn: .utility).lowestPriority.set { _ in withExtendedLifetime(captured) {} }
                }
            }
            try poll("all are gone") { tally.alive == 0 }
        }
    }

    @Test("It goes away while the target queue of its commands is suspended too, which are told when that goes on")
    func queueStandsStill() throws {
        let answers = try inTime {
            let answers = Log<Answer>()
            let end = Door()
            let queue = DispatchQueue(label: "suspended")
            queue.suspend()
            do {
                let value = QueueSafeValue(value: 0)
                value.suspend()
                value.async(performIn: queue).lowestPriority.set {
                    $0 += 1
                } completion: { answer in
                    answers.add(answer)
                    end.open()
                }
            }
            queue.resume()
            end.waitUntilOpen()
            return answers.entries
        }
        #expect(answers == [.failure(.valueContainerDeinited)])
    }

    /// The command that runs keeps the value while others, behind it, cannot: it is let go and suspended in its body.
    @Test("A command that suspends its value, which nobody holds by then, completes, and those behind it are told")
    func suspendedByItsOwnCommand() throws {
        let answers = try inTime {
            let answers = Log<Answer>()
            let group = DispatchGroup()
            let queue = DispatchQueue(label: "target")
            let isLetGo = Door()
            do {
                let value = QueueSafeValue(value: 0)
                let toSuspend = Protected<QueueSafeValue<Int>?>(value)
                for index in 0..<3 {
                    group.enter()
                    value.async(performIn: queue).lowestPriority.set {
                        $0 += 1
                        guard index == 0 else { return }
                        isLetGo.waitUntilOpen()
                        toSuspend.exchange(nil)?.suspend()
                    } completion: { answer in
                        answers.add(answer)
                        group.leave()
                    }
                }
            }
            isLetGo.open()
            group.wait()
            return answers.entries
        }
        let gone = Answer.failure(.valueContainerDeinited)
        #expect(answers == [.success(1), gone, gone])
    }

    @Test("A schedule that is kept may be all that holds it: nothing is told until that is gone too")
    func heldBySchedule() throws {
        let answers = try inTime {
            let answers = Log<Answer>()
            let end = Door()
            let queue = DispatchQueue(label: "target")
            do {
                let schedule: WaitSchedule<Int>
                do {
                    let value = QueueSafeValue(value: 0)
                    value.suspend()
                    value.async(performIn: queue).lowestPriority.get { answer in
                        answers.add(answer)
                        end.open()
                    }
                    schedule = value.wait
                }
                queue.sync {}
                withExtendedLifetime(schedule) { answers.add(.success(1)) }
            }
            end.waitUntilOpen()
            return answers.entries
        }
        #expect(answers == [.success(1), .failure(.valueContainerDeinited)])
    }

    /// Nothing else than a suspension that nobody can end answers so.
    @Test("A value that nobody holds, and that is not suspended, does all that it has accepted")
    func notSuspended() throws {
        let answers = try inTime {
            let answers = Log<Answer>()
            let group = DispatchGroup()
            let queue = DispatchQueue(label: "target")
            queue.suspend()
            do {
                let value = QueueSafeValue(value: 0)
                value.suspend()
                for index in 0..<10 {
                    group.enter()
                    let commands = value.async(performIn: index % 2 == 0 ? queue : .global()).lowestPriority
                    commands.set { number, done in
                        number += 1
                        DispatchQueue.global().async(execute: done)
                    } completion: { answer in
                        answers.add(answer)
                        group.leave()
                    }
                }
                value.resume()
            }
            queue.resume()
            group.wait()
            return answers.entries
        }
        #expect(answers.compactMap { try? $0.get() }.sorted() == Array(1...10))
    }
}
