//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

@Suite("Threads: every closure runs in its place")
struct ThreadsTests {
    private static let key = DispatchSpecificKey<Int>()

    private static func queues() -> [DispatchQueue] {
        (0..<5).map { index in
            let queue = DispatchQueue(label: "same label for all", attributes: index < 3 ? [] : .concurrent)
            queue.setSpecific(key: key, value: index)
            return queue
        }
    }

    @Test("Async closures and completions run on their queues, waiting ones on their threads, thousands at once")
    func places() throws {
        let rounds = 200
        let misplaced = Log<String>()
        let closures = Log<Int>()
        let total = try inTime { [key = Self.key] in
            let queues = Self.queues()
            let value = QueueSafeValue(value: 0)
            let group = DispatchGroup()
            onThreads(5) { index in
                let thread = ThreadID.current
                for round in 0..<rounds {
                    let target = (index + round) % queues.count
                    let schedule = value.async(performIn: queues[target])
                    let commands = round % 2 == 0 ? schedule.highestPriority : schedule.lowestPriority
                    let check: @Sendable (String) -> Void = { what in
                        closures.add(target)
                        if DispatchQueue.getSpecific(key: key) != target { misplaced.add(what) }
                    }
                    group.enter()
                    commands.set {
                        $0 += 1
                        check("set")
                    } completion: { _ in
                        check("set's completion")
                        group.leave()
                    }
                    group.enter()
                    commands.set { number, done in
                        number += 1
                        check("manual set")
                        if round % 3 == 0 { done() } else { DispatchQueue.global().async { done() } }
                    } completion: { _ in
                        check("manual set's completion")
                        group.leave()
                    }
                    group.enter()
                    commands.get { _ in
                        check("get")
                        group.leave()
                    }
                    let wait = round % 2 == 0 ? value.wait.lowestPriority : value.wait.highestPriority
                    wait.set {
                        $0 += 1
                        if ThreadID.current != thread { misplaced.add("wait set") }
                    }
                    wait.get { _, done in
                        if ThreadID.current != thread { misplaced.add("wait get") }
                        done()
                    }
                }
            }
            group.wait()
            return value.wait.highestPriority.get()
        }
        #expect(misplaced.entries.isEmpty)
        #expect(closures.count == 5 * rounds * 5)
        #expect(total == .success(5 * rounds * 3))
    }

    @Test("Completions of manual commands run on the queue, not where `done` was called")
    func manualCompletions() throws {
        let place = try inTime { [key = Self.key] in
            let queue = Self.queues()[1]
            let value = QueueSafeValue(value: 0)
            let answer = Log<Int?>()
            let end = Door()
            value.async(performIn: queue).lowestPriority.get { _, done in
                Thread { done() }.start()
            } completion: { _ in
                answer.add(DispatchQueue.getSpecific(key: key))
                end.open()
            }
            end.waitUntilOpen()
            return answer.entries
        }
        #expect(place == [1])
    }

    @Test("Failures are told on the queue")
    func failures() throws {
        let places = try inTime { [key = Self.key] in
            let queue = Self.queues()[2]
            let answers = Log<Int?>()
            let group = DispatchGroup()
            let tell: @Sendable (Result<Int, QueueSafeValueError>) -> Void = { result in
                if case .failure = result { answers.add(DispatchQueue.getSpecific(key: key)) }
                group.leave()
            }
            let value = QueueSafeValue(value: 0)
            let kept = value.async(performIn: queue).lowestPriority
            for _ in 0..<3 { group.enter() }
            kept.set(accessClosure: nil, completion: tell)
            kept.set(manualCompletion: nil, completion: tell)
            kept.get(manualCompletion: nil, completion: tell)
            group.wait()
            for _ in 0..<4 { group.enter() }
            // Suspended, and let go.
            do {
                let value = QueueSafeValue(value: 0)
                value.suspend()
                let commands = value.async(performIn: queue).highestPriority
                commands.get(completion: tell)
                commands.set(newValue: 1, completion: tell)
                commands.set(accessClosure: { $0 += 1 }, completion: tell)
                commands.set(manualCompletion: { _, done in done() }, completion: tell)
            }
            group.wait()
            return withExtendedLifetime(value) { answers.entries }
        }
        #expect(places == Array(repeating: 2, count: 7))
    }

    @Test("The main queue and the global ones are themselves, although Dispatch makes new objects for them")
    func systemQueues() throws {
        let misplaced = Log<String>()
        DispatchQueue.main.setSpecific(key: Self.key, value: 99)
        try inTime { [key = Self.key] in
            let value = QueueSafeValue(value: 0)
            let group = DispatchGroup()
            for _ in 0..<50 {
                group.enter()
                value.async(performIn: .main).lowestPriority.set {
                    $0 += 1
                } completion: { _ in
                    if DispatchQueue.getSpecific(key: key) != 99 { misplaced.add("main") }
                    group.leave()
                }
                for (qos, quality) in [(DispatchQoS.QoSClass.utility, 17), (.userInitiated, 25)] {
                    group.enter()
                    value.async(performIn: qos).highestPriority.get { _ in
                        if DispatchQueue.getSpecific(key: key) != nil { misplaced.add("global \(quality)") }
                        group.leave()
                    }
                }
            }
            group.wait()
        }
        #expect(misplaced.entries.isEmpty)
    }

    @Test("A queue of the user's with the label of a system queue is not that queue")
    func impostor() throws {
        let places = try inTime { [key = Self.key] in
            let impostor = DispatchQueue(label: DispatchQueue.global(qos: .utility).label)
            impostor.setSpecific(key: key, value: 7)
            let value = QueueSafeValue(value: 0)
            let places = Log<Int?>()
            let group = DispatchGroup()
            let blocker = Blocker(value)
            for queue in [DispatchQueue.global(qos: .utility), impostor] {
                group.enter()
                value.async(performIn: queue).lowestPriority.get { _ in
                    places.add(DispatchQueue.getSpecific(key: key))
                    group.leave()
                }
            }
            blocker.end()
            group.wait()
            return places.entries
        }
        // In this order, but on a machine that is so slow that one of them is late.
        #expect(places == [nil, 7] || places == [7, nil])
    }
}
