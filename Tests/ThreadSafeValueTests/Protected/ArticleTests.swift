//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

/// The snippets of the article ProtectingAValue and of the doc comments, in their order: they compile, and do what the
/// text says. Change both together.
@Suite("The examples of the article about Protected")
struct ArticleTests {
    @Test("Overview")
    func overview() {
        let library = Protected(Library())

        library.visits += 1
        library.titles.append("Emma")
        let count = library.titles.count
        #expect(count == 1)
        #expect(library.visits == 1)
        library.write { library in
            library.titles.removeAll()
            library.visits = 0
        }
        let isQuiet = library.read { $0.visits == 0 && $0.titles.isEmpty }
        #expect(isQuiet)
    }

    @Test("Where to keep it")
    func whereToKeepIt() {
        let reader = Reader()
        let download = Download()
        onThreads(4) { index in
            reader.visit()
            download.finish("\(index)")
        }
        #expect(reader.library.visits == 4)
        #expect(download.progress.done == 4)
        #expect(download.progress.names.count == 4)
    }

    @Test("In place")
    func inPlace() {
        let journal = Protected(Journal())
        journal.lines.append("opened")
        journal.shown.append("Emma")
        journal.write { $0.shown.append("Emma") }
        #expect(journal.lines == ["opened", "shown: 1", "shown: 2"])

        let tokens = Protected(Tokens())
        tokens.write { $0.all["a"] = Token() }
        tokens.current = nil
        _ = tokens.write { $0.all.removeValue(forKey: "a") }
        #expect(tokens.all.isEmpty)

        let body = Protected<[UInt8]?>([])
        body.append([72, 105])
        #expect(body.wrappedValue == [72, 105])
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
        #expect(!phase.attemptToTransition(to: .initialized))
        #expect(phase.attemptToTransition(to: .finished))

        let request = Protected(Request())
        #expect(request.attemptToTransition(\.phase, to: .finished))
    }

    @Test("Several values")
    func several() {
        let (savings, account) = (Protected(100), Protected(0))
        withLocked(savings, account) { savings, account in
            savings -= 10
            account += 10
        }
        #expect(savings.wrappedValue == 90)
        #expect(account.wrappedValue == 10)

        let log = Protected(["a"])
        #expect(log.exchange([]) == ["a"])
        #expect(log.isEmpty)
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
        let changes = level.changes
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

    @Test("A closure in a struct")
    func closure() {
        let heard = Protected([String]())
        let handler = Protected(Handler { heard.append($0) })
        handler.write { handler in
            let old = handler.run
            handler.run = { text in old(text.uppercased()) }
        }
        handler.run("done")
        #expect(heard.wrappedValue == ["DONE"])
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
    @Protected var names = [String]()
}

private final class Download: Sendable {
    let progress = Progress()

    func finish(_ name: String) {
        progress.done += 1
        progress.names.append(name)
    }
}

private enum Phase: Transitionable {
    case initialized, resumed, suspended, finished

    func canTransition(to next: Phase) -> Bool {
        switch (self, next) {
        case (.initialized, _), (.resumed, .suspended), (.suspended, .resumed), (.resumed, .finished): true
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

private struct Handler: Sendable {
    var run: @Sendable (String) -> Void
}

private func load(_ titles: inout [String]) async {
    titles.append("Persuasion")
}

private struct Journal: Sendable {
    var lines = [String]()
    var shown = [String]() {
        didSet { lines.append("shown: \(shown.count)") }
    }
}

private final class Token: Sendable {}

private struct Tokens: Sendable {
    var current: Token?
    var all = [String: Token]()
}
