//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("Mistakes answer: what a manual command keeps, and lets go")
struct ManualCompletionLifetimeTests {
    @Test("A `done` that only the captures of its closure keep is dropped when that has returned")
    func keptByItself() throws {
        let answer = try inTime {
            let value = QueueSafeValue(value: 0)
            do {
                let kept = Protected<CommandCompletionClosure?>(nil)
                let commands = value.async(performIn: DispatchQueue(label: "target")).highestPriority
                commands.set { _, done in kept.wrappedValue = done }
            }
            return value.wait.lowestPriority.update { $0 }
        }
        #expect(answer == .success(0))
    }

    @Test("A `done` after the value's container is gone completes the command, and lets the value go")
    func late() throws {
        let tally = Counted.Tally()
        let answers = try inTime {
            let answers = Log<Int?>()
            let old = Log<CommandCompletionClosure>()
            let started = Door()
            let told = Door()
            do {
                let value = QueueSafeValue(value: Counted(7, tally: tally))
                value.async(performIn: DispatchQueue(label: "target")).lowestPriority.set { _, done in
                    old.add(done)
                    started.open()
                } completion: { result in
                    answers.add((try? result.get())?.id)
                    told.open()
                }
                started.waitUntilOpen()
            }
            answers.add(tally.alive)
            old.entries[0]()
            told.waitUntilOpen()
            old.entries[0]()
            // `done` is still kept, and keeps nothing.
            try poll("the value is gone") { tally.alive == 0 }
            old.entries[0]()
            return answers.entries
        }
        #expect(answers == [1, 7])
    }

    private final class Note: Sendable {
        private let whenItEnds: @Sendable () -> Void

        init(_ whenItEnds: @escaping @Sendable () -> Void) {
            self.whenItEnds = whenItEnds
        }

        deinit { whenItEnds() }
    }

    /// Its `deinit` may wait for what the queue that calls `done` does next.
    @Test("What its completion has captured goes away on its queue, not where `done` is called, 1,000 times")
    func completionGoesAway() throws {
        try inTime {
            let value = QueueSafeValue(value: 0)
            let (queue, another) = (DispatchQueue(label: "target"), DispatchQueue(label: "another"))
            let key = DispatchSpecificKey<Bool>()
            queue.setSpecific(key: key, value: true)
            let ends = Log<Bool>()
            let submitted = DispatchSemaphore(value: 0)
            func submit() {
                let note = Note { ends.add(DispatchQueue.getSpecific(key: key) == true) }
                value.async(performIn: queue).lowestPriority.set { _, done in
                    // The calling thread has let go of the note.
                    submitted.wait()
                    another.async { done() }
                } completion: { _ in
                    withExtendedLifetime(note) {}
                }
            }
            for round in 1...1_000 {
                submit()
                submitted.signal()
                try poll("it has gone away") { ends.count == round }
            }
            #expect(ends.entries.allSatisfy { $0 })
        }
    }
}
