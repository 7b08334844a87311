//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

/// What the article ProtectingAValue and the doc comments show, among several threads and tasks. `.ci/snippets` compiles
/// and runs the snippets of the article as they stand. Change both together.
@Suite("The examples of the article about Protected")
struct ArticleTests {
    @Test("Where to keep it")
    func whereToKeepIt() {
        let reader = Reader()
        let progress = Progress()
        onThreads(4) { _ in
            reader.visit()
            progress.done += 1
            progress.$done.write { $0 += 1 }
        }
        #expect(reader.library.visits == 4)
        #expect(progress.done == 8)
    }

    @Test("One step or several")
    func oneStep() {
        let progress = Progress()
        let library = Protected(Library())
        // Wrong among several threads; here it is alone.
        progress.done = progress.done + 1
        if library.visits < 10 { library.visits += 1 }
        onThreads(4) { _ in
            for _ in 0..<100 {
                progress.done += 1
                library.write { library in
                    if library.visits < 10 { library.visits += 1 }
                }
            }
        }
        #expect(progress.done == 401)
        #expect(library.visits == 10)
    }

    @Test("States")
    func states() {
        let phase = Protected(Phase.initialized)
        let resumed = Protected(0)
        onThreads(4) { _ in
            if phase.attemptToTransition(to: .resumed) {
                resumed.wrappedValue += 1
            }
        }
        #expect(resumed.wrappedValue == 1)

        let request = Protected(Request())
        #expect(request.attemptToTransition(\.phase, to: .finished))
    }

    @Test("Without waiting, or not for ever")
    func notForEver() {
        let gauge = Protected(0)
        if gauge.tryWrite({ $0 += 1 }) == nil {
            Issue.record("Nobody else is at it.")
        }
        if gauge.write(timeout: .milliseconds(50), { $0 += 1 }) == nil {
            Issue.record("Nobody else is at it.")
        }
        #expect(gauge.wrappedValue == 2)

        let jobs = Protected([String]())

        @Sendable func nextJob() -> String {
            jobs.write(when: { !$0.isEmpty }) { $0.removeFirst() }
        }
        let done = Protected([String]())
        let workers = (0..<2).map { _ in RunningThread { done.append(nextJob()) } }
        jobs.append(contentsOf: ["a", "b"])
        for worker in workers { worker.join() }
        #expect(done.wrappedValue.sorted() == ["a", "b"])
    }

    @Test("Changes")
    func changes() async {
        let level = Protected(0)
        let changes = level.changes()
        let shown = Protected([Int]())
        let display = Task {
            for await level in changes {
                shown.append(level)
                break
            }
        }
        level.wrappedValue = 3
        await display.value
        #expect(shown.wrappedValue == [3])
    }

    @Test("What not to do, done right")
    func doneRight() async {
        let library = Protected(Library())
        library.titles = ["Emma"]
        library.write { inner in
            inner.visits += inner.titles.count
        }
        #expect(library.visits == 1)

        let shelf = Protected(Shelf(lent: 1))
        let books = shelf.books
        shelf.lent? += books
        #expect(shelf.lent == 4)

        var titles = library.titles
        await load(&titles)
        library.titles = titles
        #expect(library.titles == ["Emma", "Persuasion"])
        // Wrong, but it compiles, and works as long as nothing really suspends.
        await load(&library.titles)
        #expect(library.titles.count == 3)
    }

    @Test("The example of Transitionable")
    func transitionable() {
        let job = Protected(Job.waiting)
        #expect(!job.attemptToTransition(to: .finished))
        #expect(job.attemptToTransition(to: .running))
        #expect(job.attemptToTransition(to: .finished))
    }

    @Test("The example of Protected")
    func protected() {
        let model = Protected(Library())
        model.visits += 1
        model.titles.append("Ada")
        let total = model.read { $0.visits + $0.titles.count }
        #expect(total == 2)
        model.write { model in
            model.visits = 0
            model.titles.removeAll()
        }
        #expect(model.visits == 0)
    }
}

private struct Library: Sendable {
    var titles = [String]()
    var visits = 0
}

/// Of `ProtectedMistakeTests` too.
struct Shelf: Sendable {
    var lent: Int?
    var books = 3
}

private final class Reader: Sendable {
    let library = Protected(Library())

    func visit() {
        library.visits += 1
    }
}

private struct Progress: Sendable {
    @Protected var done = 0
}

private enum Phase: Transitionable {
    case initialized, resumed, finished

    func canTransition(to next: Phase) -> Bool {
        switch (self, next) {
        case (.initialized, _), (.resumed, .finished): true
        default: false
        }
    }
}

private struct Request: Sendable {
    var phase = Phase.initialized
}

private enum Job: Transitionable {
    case waiting, running, finished

    func canTransition(to next: Job) -> Bool {
        switch (self, next) {
        case (.waiting, .running), (.running, .finished): true
        default: false
        }
    }
}

private func load(_ titles: inout [String]) async {
    titles.append("Persuasion")
}
