//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("A state machine in a protected value")
struct TransitionTests {
    @Test("A step that is allowed is taken, one that isn't changes nothing")
    func steps() {
        let state = Protected(Download.waiting)
        #expect(!state.attemptToTransition(to: .finished))
        #expect(state.wrappedValue == .waiting)
        #expect(state.attemptToTransition(to: .running))
        #expect(state.wrappedValue == .running)
        #expect(!state.attemptToTransition(to: .running))
        #expect(state.attemptToTransition(to: .finished))
        #expect(!state.attemptToTransition(to: .waiting))
        #expect(state.wrappedValue == .finished)
    }

    @Test("A state inside a larger value steps alone")
    func nestedSteps() {
        let job = Protected(Job())
        #expect(!job.attemptToTransition(\.download, to: .finished))
        #expect(job.attemptToTransition(\.download, to: .running))
        #expect(job.download == .running)
        #expect(job.name == "job")
    }

    @Test("A state with an observer of its own is set by a step that is allowed, and by no other")
    func observedSteps() {
        let job = Protected(CountedJob())
        #expect(!job.attemptToTransition(\.download, to: .finished))
        #expect(job.steps == 0)
        #expect(job.attemptToTransition(\.download, to: .running))
        #expect(job.steps == 1)
        #expect(job.download == .running)
    }

    @Test("Of many threads that attempt the same step exactly one succeeds")
    func race() {
        for _ in 0..<200 {
            let state = Protected(Download.waiting)
            let job = Protected(Job())
            let (winners, jobWinners) = (Protected(0), Protected(0))
            onThreads(4) { _ in
                if state.attemptToTransition(to: .running) { winners.wrappedValue += 1 }
                if job.attemptToTransition(\.download, to: .running) { jobWinners.wrappedValue += 1 }
            }
            #expect(winners.wrappedValue == 1)
            #expect(jobWinners.wrappedValue == 1)
        }
    }

    @Test("The test and the step are one: no thread comes in between")
    func oneStep() {
        // The state is looked at while it answers.
        let state = Protected(Observed())
        let seen = Protected([Bool]())
        let look: @Sendable () -> Void = { seen.append(state.isLocked) }
        Observed.onQuestion.wrappedValue = look
        #expect(state.attemptToTransition(to: Observed(number: 1)))
        Observed.onQuestion.wrappedValue = nil
        #expect(seen.wrappedValue == [true])
        #expect(state.number == 1)
    }

    @Test("No step is won twice, however often the threads meet")
    func crowded() {
        // Between a test and a step that were two accesses, another thread would sooner or later win the same step.
        let (state, nested) = (Protected(Version(number: 0)), Protected((version: Version(number: 0), other: "")))
        let (wins, nestedWins) = (Protected(0), Protected(0))
        onThreads(4) { _ in
            var (own, ownNested) = (0, 0)
            for _ in 0..<20_000 {
                if state.attemptToTransition(to: Version(number: state.number + 1)) { own += 1 }
                let next = nested.version.number + 1
                if nested.attemptToTransition(\.version, to: Version(number: next)) { ownNested += 1 }
            }
            wins.wrappedValue += own
            nestedWins.wrappedValue += ownNested
        }
        #expect(state.number == wins.wrappedValue)
        #expect(nested.version.number == nestedWins.wrappedValue)
    }

    @Test("Random attempts from four threads: each step that succeeded was allowed, and they form one chain")
    func randomly() {
        let random = Protected(SeededRandom())
        let state = Protected(Version(number: 0))
        let wins = Protected([Int]())
        onThreads(4) { _ in
            for _ in 0..<2_000 {
                let ahead = random.write { random in Int.random(in: 0...2, using: &random) }
                let next = state.number + ahead
                if state.attemptToTransition(to: Version(number: next)) { wins.append(next) }
            }
        }
        // A version may only follow the one right before it, so every number is won once.
        #expect(wins.wrappedValue.sorted() == Array(1..<(state.number + 1)), "TEST_SEED=\(random.seed)")
    }
}

private enum Download: Transitionable {
    case waiting, running, finished

    func canTransition(to next: Download) -> Bool {
        switch (self, next) {
        case (.waiting, .running), (.running, .finished): true
        default: false
        }
    }
}

private struct Job: Sendable {
    var name = "job"
    var download = Download.waiting
}

private struct CountedJob: Sendable {
    private(set) var steps = 0

    var download = Download.waiting {
        didSet { steps += 1 }
    }
}

private struct Version: Transitionable {
    var number: Int

    func canTransition(to next: Version) -> Bool {
        next.number == number + 1
    }
}

/// Tells when it is asked.
private struct Observed: Transitionable {
    static let onQuestion = Protected<(@Sendable () -> Void)?>(nil)

    var number = 0

    func canTransition(to next: Observed) -> Bool {
        Observed.onQuestion.wrappedValue?()
        return true
    }
}
